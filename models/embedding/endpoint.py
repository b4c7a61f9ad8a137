"""Any OpenAI-compatible embeddings endpoint."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from openai import AsyncOpenAI

from models.embedding.answers import AnswerReader
from models.embedding.errors import InputTooLongError, UnusableVectorError
from models.embedding.port import Embedding, Vector
from models.embedding.requests import EmbeddingRequests
from models.errors import InputRefusedError, ModelConfigurationError, TransientModelError
from runtime.logs import logger

_HALVINGS: Final = 4
_PROBE: Final = "ping"
_PROBE_REMEMBERED_S: Final = 5.0

_log = logger(__name__)


class EndpointBackend:
    """Embeds through an endpoint. It gives no token vectors, so ``late`` is None.

    A text that is refused is put aside for good, so no endpoint is believed to refuse a text as long as it may be refusing everything
    (an account without credit, an unknown model): it has to accept a text of ours right after.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        dimension: int,
        api_key: str | None = None,
        timeout_s: float = 30.0,
        max_chars: int | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepares the client; nothing is sent yet.

        Args:
            base_url: The endpoint's address, ending before ``/embeddings``.
            model: The model to ask for.
            dimension: The length its vectors must have.
            api_key: The endpoint's key, where it wants one.
            timeout_s: Time-out of one request, in seconds.
            max_chars: Of a longer text only so many characters are sent; None: all of it.
            monotonic: A clock in seconds that never goes back.

        Raises:
            ModelConfigurationError: If the address or the model is empty.
        """
        if not base_url or not model:
            raise ModelConfigurationError("an embeddings endpoint needs VARVE_EMBEDDING__BASE_URL and VARVE_EMBEDDING__MODEL")
        self._model = model
        self._dimension = dimension
        self._max_chars = max_chars
        self._monotonic = monotonic
        told = f"the embeddings endpoint {base_url} ({model})"
        self._requests = EmbeddingRequests(
            client=AsyncOpenAI(base_url=base_url, api_key=api_key or "none", timeout=timeout_s, max_retries=0),
            model=model,
            reader=AnswerReader(model=model, dimension=dimension, endpoint=told),
            endpoint=told,
            monotonic=monotonic,
        )
        self._refuses_all_until = float("-inf")

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    @property
    def dimension(self) -> int:
        """Length of a dense vector."""
        return self._dimension

    async def documents(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds one batch; of a text longer than ``max_chars``, or than the endpoint takes, its beginning.

        Raises:
            InputRefusedError: If one of the texts may be to blame for a refusal; of a text alone, if it is.
            models.embedding.errors.UnusableVectorError: If one of several texts may be to blame for a vector that is not finite.
            TransientModelError: On a time-out, a lost connection, 429 or 5xx, and on an answer that is not one finite vector for each text.
            ModelConfigurationError: On any other refusal, where every text is refused, and when the vectors have another length than
                configured.
        """
        asked = [self._sendable(text) for text in texts]
        try:
            rows = await self._accepted(asked)
        except (InputRefusedError, UnusableVectorError) as refusal:
            if self._monotonic() < self._refuses_all_until:
                raise ModelConfigurationError(str(refusal)) from refusal
            if len(asked) > 1:
                raise
            rows = await self._shortened(asked[0], refusal)
        return [Embedding(dense=dense, late=None) for dense in rows]

    async def queries(self, texts: Sequence[str]) -> list[Embedding]:
        """The same as :meth:`documents`: an endpoint knows no difference."""
        return await self.documents(texts)

    async def close(self) -> None:
        """Closes the connections."""
        await self._requests.close()

    def _sendable(self, text: str) -> str:
        # An empty text is refused by many endpoints, and a space embeds to the same nothing; half a character cannot be sent at all.
        return text[: self._max_chars].encode("utf-8", "replace").decode("utf-8") or " "

    async def _accepted(self, texts: Sequence[str]) -> Vector:
        rows = await self._requests.embed(texts)
        self._refuses_all_until = float("-inf")
        return rows

    async def _shortened(self, text: str, refusal: InputRefusedError | UnusableVectorError) -> Vector:
        """What a text that was refused alone embeds to once it is short enough, if it is its length that is refused."""
        sent = text
        for _ in range(_HALVINGS):
            if not isinstance(refusal, InputTooLongError) or len(sent) < 2:
                break
            sent = sent[: len(sent) // 2]
            try:
                rows = await self._accepted([sent])
            except (InputRefusedError, UnusableVectorError) as error:
                refusal = error
            else:
                _log.warning(
                    "an embeddings endpoint takes less of a text than VARVE_EMBEDDING__MAX_CHARS says",
                    model=self._model,
                    chars=len(text),
                    taken=len(sent),
                    why=str(refusal),
                )
                return rows
        await self._require_that_others_are_accepted(refusal)
        raise InputRefusedError(str(refusal)) from refusal

    async def _require_that_others_are_accepted(self, refusal: InputRefusedError | UnusableVectorError) -> None:
        """Asks for what nobody can take offence at, after the refusal: what was accepted before it proves nothing of now."""
        try:
            await self._accepted([_PROBE])
        except InputRefusedError as error:
            self._refuses_all_until = self._monotonic() + _PROBE_REMEMBERED_S
            raise ModelConfigurationError(str(refusal)) from error
        except UnusableVectorError as error:
            raise TransientModelError(str(refusal)) from error
