"""Any OpenAI-compatible embeddings endpoint."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from openai import AsyncOpenAI

from models.embedding.client import EmbeddingClient, ResponseParser
from models.embedding.port import Embedding, Vector
from models.errors import InputRefusedError, InputTooLongError, ModelConfigurationError, TransientModelError, UnusableVectorError
from runtime.logs import logger

_MAXIMUM_HALVINGS: Final = 4
_PROBE: Final = "ping"
_PROBE_TTL_S: Final = 5.0
_TIMEOUT_S: Final = 30.0

_LOG = logger(__name__)


class EndpointBackend:
    """Embeds through an endpoint. It gives no token vectors, so ``late`` is None.

    A refused text is dead-lettered permanently. Therefore a refusal counts only if the endpoint accepts a probe text right after it: an
    endpoint without credit, or with an unknown model, refuses everything.

    Args:
        base_url: The endpoint's address, ending before ``/embeddings``.
        dimension: The length its vectors must have.
        max_chars: A longer text is cut to so many characters before it is sent; None: never.
        monotonic: A clock in seconds that never goes back.

    Raises:
        ModelConfigurationError: If the address or the model is empty.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        dimension: int,
        api_key: str | None = None,
        max_chars: int | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if not base_url or not model:
            raise ModelConfigurationError("an embeddings endpoint needs VARVE_EMBEDDING__BASE_URL and VARVE_EMBEDDING__MODEL")
        self._model = model
        self._dimension = dimension
        self._max_chars = max_chars
        self._monotonic = monotonic
        endpoint = f"the embeddings endpoint {base_url} ({model})"
        self._client = EmbeddingClient(
            client=AsyncOpenAI(base_url=base_url, api_key=api_key or "none", timeout=_TIMEOUT_S, max_retries=0),
            model=model,
            parser=ResponseParser(model=model, dimension=dimension, endpoint=endpoint),
            endpoint=endpoint,
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

    @property
    def late_dimension(self) -> int | None:
        """Length of a late vector; None: the model gives none."""
        return None

    @property
    def distinguishes_queries(self) -> bool:
        """False: an endpoint embeds both the same way."""
        return False

    async def documents(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds one batch. Of a text longer than ``max_chars``, or than the endpoint takes, the beginning is embedded.

        Raises:
            InputRefusedError: If one of several texts may have caused a refusal; for a single text, if it did.
            UnusableVectorError: If one of several texts may have caused a vector that is not finite.
            TransientModelError: On a time-out, a lost connection, 429 or 5xx, and on a response that is not one finite vector for each
                text.
            ModelConfigurationError: On any other refusal, where every text is refused, and when the vectors have another length than
                configured.
        """
        inputs = [self._sendable(text) for text in texts]
        try:
            rows = await self._embed(inputs)
        except (InputRefusedError, UnusableVectorError) as refusal:
            if self._monotonic() < self._refuses_all_until:
                raise ModelConfigurationError(str(refusal)) from refusal
            if len(inputs) > 1:
                raise
            rows = await self._embed_truncated(inputs[0], refusal)
        return [Embedding(dense=dense, late=None) for dense in rows]

    async def queries(self, texts: Sequence[str]) -> list[Embedding]:
        """The same as :meth:`documents`: an endpoint makes no difference."""
        return await self.documents(texts)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    def _sendable(self, text: str) -> str:
        # Many endpoints refuse an empty text; a space embeds to the same. A lone surrogate cannot be sent at all.
        return text[: self._max_chars].encode("utf-8", "replace").decode("utf-8") or " "

    async def _embed(self, texts: Sequence[str]) -> Vector:
        rows = await self._client.embed(texts)
        self._refuses_all_until = float("-inf")
        return rows

    async def _embed_truncated(self, text: str, refusal: InputRefusedError | UnusableVectorError) -> Vector:
        """Halves a single refused text until the endpoint takes it, as long as it is the length that is refused."""
        truncated = text
        for _ in range(_MAXIMUM_HALVINGS):
            if not isinstance(refusal, InputTooLongError) or len(truncated) < 2:
                break
            truncated = truncated[: len(truncated) // 2]
            try:
                rows = await self._embed([truncated])
            except (InputRefusedError, UnusableVectorError) as error:
                refusal = error
            else:
                _LOG.warning(
                    "embedding_input_truncated",
                    model=self._model,
                    characters=len(text),
                    embedded_characters=len(truncated),
                    error=str(refusal),
                    advice="lower VARVE_EMBEDDING__MAX_CHARS",
                )
                return rows
        await self._require_probe_accepted(refusal)
        raise InputRefusedError(str(refusal)) from refusal

    async def _require_probe_accepted(self, refusal: InputRefusedError | UnusableVectorError) -> None:
        """Sends a harmless text after the refusal; what was accepted before the refusal proves nothing about now."""
        try:
            await self._embed([_PROBE])
        except InputRefusedError as error:
            self._refuses_all_until = self._monotonic() + _PROBE_TTL_S
            raise ModelConfigurationError(str(refusal)) from error
        except UnusableVectorError as error:
            raise TransientModelError(str(refusal)) from error
