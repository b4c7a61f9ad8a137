"""Any OpenAI-compatible embeddings endpoint."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
from openai import APIConnectionError, APIError, APIStatusError, AsyncOpenAI

from models.embedding.pooling import unit_rows
from models.embedding.port import Embedding
from models.errors import ModelConfigurationError, ModelError
from models.faults import model_error


class EndpointBackend:
    """Embeds through an endpoint. It gives no token vectors, so ``late`` is None."""

    def __init__(self, *, base_url: str, model: str, dimension: int, api_key: str | None = None, timeout_s: float = 30.0) -> None:
        """Prepares the client; nothing is sent yet.

        Args:
            base_url: The endpoint's address, ending before ``/embeddings``.
            model: The model to ask for.
            dimension: The length its vectors must have.
            api_key: The endpoint's key, where it wants one.
            timeout_s: Time-out of one request, in seconds.

        Raises:
            ModelConfigurationError: If the address or the model is empty.
        """
        if not base_url or not model:
            raise ModelConfigurationError("an embeddings endpoint needs VARVE_EMBEDDING__BASE_URL and VARVE_EMBEDDING__MODEL")
        self._model = model
        self._dimension = dimension
        self._told = f"the embeddings endpoint {base_url} ({model})"
        self._client = AsyncOpenAI(base_url=base_url, api_key=api_key or "none", timeout=timeout_s, max_retries=0)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    @property
    def dimension(self) -> int:
        """Length of a dense vector."""
        return self._dimension

    async def documents(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds one batch.

        Raises:
            TransientModelError: On a time-out, a lost connection, 429 or 5xx.
            ModelConfigurationError: On any other refusal, and when the vectors have another length than configured.
            ModelError: When the answer has another number of vectors than texts.
        """
        # An empty text is refused by many endpoints, and a space embeds to the same nothing.
        asked = [text or " " for text in texts]
        try:
            answer = await self._client.embeddings.create(model=self._model, input=asked, encoding_format="float")
        except (APIConnectionError, APIStatusError) as error:
            raise model_error(error, endpoint=self._told, now=datetime.now(UTC)) from error
        except APIError as error:
            raise ModelError(f"{self._told} gave no usable answer: {error}") from error
        vectors = [each.embedding for each in sorted(answer.data, key=lambda each: each.index)]
        if len(vectors) != len(texts):
            raise ModelError(f"{self._model} gave {len(vectors)} vectors for {len(texts)} texts")
        for vector in vectors:
            if len(vector) != self._dimension:
                raise ModelConfigurationError(
                    f"{self._model} gives vectors of length {len(vector)}, VARVE_EMBEDDING__DIMENSION says {self._dimension}"
                )
        return [Embedding(dense=dense, late=None) for dense in unit_rows(np.array(vectors, dtype=np.float32))]

    async def queries(self, texts: Sequence[str]) -> list[Embedding]:
        """The same as :meth:`documents`: an endpoint knows no difference."""
        return await self.documents(texts)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()
