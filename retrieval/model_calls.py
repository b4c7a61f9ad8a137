"""Calls to a model during a recall. Few calls run concurrently, and each failure has a reason."""

from collections.abc import Callable, Sequence
from typing import Final

from models.errors import BudgetExceededError, ModelError, TransientModelError
from models.llm.port import LLM, ChatMessage, LLMAnswer, LLMRequest
from retrieval.errors import RecallModelError
from runtime.settings import RecallModelSettings

STAGE: Final = "service"


class RecallModel:
    """A model of the recall pipeline.

    Args:
        llm: The model. None: no endpoint is configured.
        settings: The limit of waiting calls.
        purpose: The purpose in usage records, and in the names of its settings.
    """

    def __init__(self, llm: LLM | None, *, settings: RecallModelSettings, purpose: str) -> None:
        self._llm = llm
        self._waiting = settings.waiting
        self._purpose = purpose
        self._asking = 0

    def check(self) -> None:
        """Checks that an endpoint is configured.

        Raises:
            RecallModelError: ``off``, if none is.
        """
        self._model()

    async def ask(
        self, tenant: str, messages: Sequence[ChatMessage], *, user: str | None, complete_at: Callable[[str], int | None] | None = None
    ) -> LLMAnswer:
        """The answer to a prompt.

        Args:
            tenant: The tenant whose token budget is used.
            messages: The prompt.
            user: The user who asks. None: no single user.
            complete_at: See :attr:`models.llm.port.LLMRequest.complete_at`.

        Raises:
            RecallModelError: ``off``, ``busy``, ``budget`` or ``refused``.
            models.errors.TransientModelError: If the endpoint is unavailable.
        """
        llm = self._model()
        if self._asking >= self._waiting:
            raise RecallModelError("busy", f"{self._asking} recalls already wait for the model ({self._setting('WAITING')})")
        self._asking += 1
        try:
            return await llm.complete(
                LLMRequest(messages=tuple(messages), tenant=tenant, stage=STAGE, purpose=self._purpose, user=user, complete_at=complete_at)
            )
        except TransientModelError:
            raise
        except BudgetExceededError as error:
            message = f"tenant {tenant!r} has not so many tokens left today as a call may take ({self._setting('TOKENS_PER_DAY')})"
            raise RecallModelError("budget", message) from error
        except ModelError as error:
            raise RecallModelError("refused", str(error)) from error
        finally:
            self._asking -= 1

    async def close(self) -> None:
        """Closes the connections."""
        if self._llm is not None:
            await self._llm.close()

    def _model(self) -> LLM:
        if self._llm is None:
            raise RecallModelError("off", f"no endpoint is set ({self._setting('BASE_URL')})")
        return self._llm

    def _setting(self, name: str) -> str:
        return f"VARVE_{self._purpose.upper()}__{name}"
