"""Single requests to an embeddings endpoint: how to ask it, when not to, and what its answer says."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from openai import APIConnectionError, APIError, APIStatusError, AsyncOpenAI, omit

from models.embedding.answers import AnswerReader
from models.embedding.port import Vector
from models.embedding.refusals import embedding_error, is_of_the_format
from models.errors import OverloadedError


class EmbeddingRequests:
    """Sends requests to one endpoint, and none while it wants to be left alone."""

    def __init__(self, *, client: AsyncOpenAI, model: str, reader: AnswerReader, endpoint: str, monotonic: Callable[[], float]) -> None:
        """Nothing is sent yet.

        Args:
            client: Whose connections are used; it is owned from then on.
            model: The model to ask for.
            reader: Reads the answers.
            endpoint: The endpoint's name, for messages.
            monotonic: A clock in seconds that never goes back.
        """
        self._client = client
        self._model = model
        self._reader = reader
        self._endpoint = endpoint
        self._monotonic = monotonic
        self._paused_until = float("-inf")
        self._names_format = True

    async def embed(self, texts: Sequence[str]) -> Vector:
        """One request; one row of unit length for each text.

        Raises:
            OverloadedError: On 429, and unsent for as long afterwards as the endpoint said.
            models.embedding.errors.InputTooLongError: If the endpoint says that a text is too long.
            InputRefusedError: If it refuses the request otherwise (400, 422).
            models.embedding.errors.UnusableVectorError: If a vector is not finite.
            TransientModelError: On a time-out, a lost connection or 5xx, and on an answer that is not one vector for each text.
            ModelConfigurationError: On any other refusal, and when the vectors have another length than configured.
        """
        left = self._paused_until - self._monotonic()
        if left > 0:
            raise OverloadedError(f"{self._endpoint} wants no calls for another {left:.1f} s", retry_after=left)
        try:
            body = await self._post_in_a_form_it_takes(texts)
        except (APIConnectionError, APIStatusError) as error:
            meant = embedding_error(error, endpoint=self._endpoint, now=datetime.now(UTC))
            if isinstance(meant, OverloadedError):
                self._pause(meant.pause_s)
            raise meant from error
        except APIError as error:
            raise self._reader.unusable(str(error)) from error
        return self._reader.rows(body, count=len(texts))

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    def _pause(self, seconds: float) -> None:
        self._paused_until = max(self._paused_until, self._monotonic() + seconds)

    async def _post_in_a_form_it_takes(self, texts: Sequence[str]) -> bytes:
        named = self._names_format
        try:
            return await self._post(texts, names_format=named)
        except APIStatusError as error:
            if not named or not is_of_the_format(error):
                raise
        body = await self._post(texts, names_format=False)
        self._names_format = False
        return body

    async def _post(self, texts: Sequence[str], *, names_format: bool) -> bytes:
        # Left to itself the client would ask for base64.
        extra: dict[str, Any] = {"encoding_format": "float" if names_format else omit}
        raw = await self._client.embeddings.with_raw_response.create(model=self._model, input=list(texts), extra_body=extra)
        return raw.content
