"""Any OpenAI-compatible embeddings endpoint."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import orjson
from openai import APIConnectionError, APIError, APIStatusError, AsyncOpenAI

from models.embedding.pooling import unit_rows
from models.embedding.port import Embedding, Vector
from models.errors import ModelConfigurationError, TransientModelError
from models.faults import model_error


class EndpointBackend:
    """Embeds through an endpoint. It gives no token vectors, so ``late`` is None."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        dimension: int,
        api_key: str | None = None,
        timeout_s: float = 30.0,
        max_chars: int | None = None,
    ) -> None:
        """Prepares the client; nothing is sent yet.

        Args:
            base_url: The endpoint's address, ending before ``/embeddings``.
            model: The model to ask for.
            dimension: The length its vectors must have.
            api_key: The endpoint's key, where it wants one.
            timeout_s: Time-out of one request, in seconds.
            max_chars: Of a longer text only so many characters are sent; None: all of it.

        Raises:
            ModelConfigurationError: If the address or the model is empty.
        """
        if not base_url or not model:
            raise ModelConfigurationError("an embeddings endpoint needs VARVE_EMBEDDING__BASE_URL and VARVE_EMBEDDING__MODEL")
        self._model = model
        self._dimension = dimension
        self._max_chars = max_chars
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
        """Embeds one batch; of a text longer than ``max_chars``, its beginning.

        Raises:
            TransientModelError: On a time-out, a lost connection, 429 or 5xx, and on an answer that is not one finite vector for each text.
            ModelConfigurationError: On any other refusal, and when the vectors have another length than configured.
        """
        # An empty text is refused by many endpoints, and a space embeds to the same nothing.
        asked = [text[: self._max_chars] or " " for text in texts]
        try:
            raw = await self._client.embeddings.with_raw_response.create(model=self._model, input=asked, encoding_format="float")
        except (APIConnectionError, APIStatusError) as error:
            raise model_error(error, endpoint=self._told, now=datetime.now(UTC)) from error
        except APIError as error:
            raise self._unusable(str(error)) from error
        rows = self._rows(self._vectors(raw.content, len(asked)))
        return [Embedding(dense=dense, late=None) for dense in rows]

    async def queries(self, texts: Sequence[str]) -> list[Embedding]:
        """The same as :meth:`documents`: an endpoint knows no difference."""
        return await self.documents(texts)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    def _vectors(self, body: bytes, count: int) -> list[list[Any]]:
        """The vectors of an answer, in the order of the texts."""
        try:
            answer = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise self._unusable(f"it is not JSON but {_beginning(body)}") from error
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, list):
            raise self._unusable(f"it has no list of data but {_beginning(body)}")
        if len(data) != count:
            raise self._unusable(f"{len(data)} vectors for {count} texts")
        vectors: list[list[Any] | None] = [None] * count
        for item in data:
            place, vector = (item.get("index"), item.get("embedding")) if isinstance(item, dict) else (None, None)
            if type(place) is not int or not 0 <= place < count or vectors[place] is not None:
                raise self._unusable(f"a vector has the index {place!r}, where each of 0 to {count - 1} is due once")
            if not isinstance(vector, list):
                raise self._unusable(f"vector {place} is no list of numbers")
            vectors[place] = vector
        return [vector for vector in vectors if vector is not None]

    def _rows(self, vectors: list[list[Any]]) -> Vector:
        for vector in vectors:
            if len(vector) != self._dimension:
                raise ModelConfigurationError(
                    f"{self._model} gives vectors of length {len(vector)}, VARVE_EMBEDDING__DIMENSION says {self._dimension}"
                )
        with np.errstate(over="ignore"):
            try:
                rows = np.array(vectors, dtype=np.float32)
            except (TypeError, ValueError) as error:
                raise self._unusable(f"a vector holds what is no number: {error}") from error
            # By their lengths: one that overflows would otherwise pass as a vector of zeros.
            if rows.ndim != 2 or not np.isfinite(np.linalg.norm(rows, axis=1)).all():
                raise self._unusable("a vector holds what is no finite number")
        return unit_rows(rows)

    def _unusable(self, why: str) -> TransientModelError:
        return TransientModelError(f"{self._told} gave no usable answer: {why}")


def _beginning(body: bytes) -> str:
    return repr(body[:80].decode("utf-8", "replace"))
