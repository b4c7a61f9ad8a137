"""The interface of LLM endpoints: chat completions, streamed, with usage."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

FinishReason = Literal["stop", "length", "other"]
"""Why an answer ended: it is whole, it reached a limit, or another reason."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt. The byte-stable prefix comes first, so that prefix caches hit."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMRequest:
    """One question, with the tenant whose budget pays for it."""

    messages: tuple[ChatMessage, ...]
    tenant: str
    stage: str
    purpose: str = "extraction"
    subject: str | None = None
    """A window's or an entity's id, for the usage record."""
    user: str | None = None
    """The user whose messages the question contains; None: the users of its subject. An erasure removes cached answers by it."""
    json_schema: Mapping[str, Any] | None = None
    """The schema of the answer; how it is requested depends on the endpoint's capabilities."""
    max_tokens: int | None = None
    attempt: int = 0
    """Rises when the last answer was unusable: the endpoint is asked again, without the answer cache and not at temperature 0."""
    deferrable: bool = False
    """May wait for off-peak hours once the tenant's soft budget is used up."""
    stop_when: Callable[[str], bool] | None = None
    """Is called with the answer so far every few hundred characters. Once it returns True the call is cancelled, and the answer ends there
    with finish reason ``length``. For :meth:`LLM.complete` only; a caller of :meth:`LLM.stream` closes the stream."""
    complete_at: Callable[[str], int | None] | None = None
    """Is called with the answer so far after each piece of it. Once it returns a number, the answer is complete and has that many
    characters: the call is cancelled if the endpoint does not end it at once, and the finish reason is ``stop``. For :meth:`LLM.complete`
    only."""
    probes_refusals: bool = False
    """Whether a refusal is tested: it counts as one of this input only if the endpoint then accepts a request of one word. An endpoint
    without credit, or one that gets too long a schema, refuses everything. For :meth:`LLM.complete` only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMUsage:
    """Tokens of one call, as the endpoint counts them."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMAnswer:
    """A whole answer."""

    text: str
    model: str
    finish_reason: FinishReason = "stop"
    usage: LLMUsage = field(default_factory=LLMUsage)
    cost: float = 0.0
    latency_ms: float = 0.0
    is_estimated: bool = False
    """The endpoint gave no count of tokens: the usage is an estimate."""
    thoughts: str = ""
    """A reasoning model's thoughts, if the endpoint returns them in a separate field."""
    from_cache: bool = False


class LLM(Protocol):
    """An LLM endpoint, or several by priority."""

    @property
    def model(self) -> str:
        """The model that is asked first."""
        ...

    async def complete(self, request: LLMRequest) -> LLMAnswer:
        """Asks once and waits for the whole answer.

        Raises:
            models.errors.TransientModelError: Every endpoint failed temporarily: time-out, refused connection, 429, 5xx.
            models.errors.ModelConfigurationError: A failure that no retry can cure (401, 404, a request that is too long).
            models.errors.InputRefusedError: The endpoints refuse this request (400, 413, 422). With ``probes_refusals``, not others.
            models.errors.BudgetExceededError: The tenant's hard budget is used up.
        """
        ...

    def stream(self, request: LLMRequest) -> AsyncIterator[str]:
        """The answer's text as it arrives; raises as :meth:`complete`."""
        ...

    async def serves(self, tenant: str, *, stage: str) -> bool:
        """Whether an endpoint answers a call of one word now. The content of the answer does not matter.

        Args:
            tenant: The tenant whose budget pays for it.
            stage: The stage that asks.
        """
        ...

    async def close(self) -> None:
        """Frees connections."""
        ...
