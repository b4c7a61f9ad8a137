"""Requests to an embeddings endpoint: their form, parsing of the responses, and translation of the errors."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import orjson
from openai import APIConnectionError, APIError, APIStatusError, AsyncOpenAI, omit

from memory.vectors import unit_rows
from models.credentials import CredentialOwner, credential_watch
from models.embedding.port import Vector
from models.errors import (
    FailedInputError,
    InputTooLongError,
    ModelConfigurationError,
    ModelError,
    OverloadedError,
    TransientModelError,
    UnusableVectorError,
)
from models.openai_errors import error_message, model_error

_TOO_LONG: Final = re.compile(
    r"too (?:long|large|many tokens)|(?:maximum|max) (?:context|input|sequence)|context (?:length|window|size)|token limit|exceed"
    r"|longer than|(?:less|fewer) than \d+ tokens",
    re.IGNORECASE,
)
_TOO_LONG_AS_500: Final = re.compile(
    r"\b(?:inputs?|prompt|text|sequence|tokens)\b[^.]{0,40}\b(?:too (?:long|large)|exceeds?\b)|maximum context", re.IGNORECASE
)
"""Stricter for a status 500: it is mostly an outage, and ``exceeds`` may be about the server's own memory."""
_NOT_FINITE: Final = re.compile(r"\bnan\b|[+-]inf\b|\binfinity\b|not JSON compliant", re.IGNORECASE)
"""Servers that cannot write their own vectors: Go's ``unsupported value: NaN``, Python's ``not JSON compliant``."""
_UNAVAILABLE: Final = 503
_ENCODING_FORMAT: Final = "encoding_format"


class ResponseParser:
    """Takes the vectors out of one endpoint's responses.

    Args:
        dimension: The length its vectors must have.
    """

    def __init__(self, *, model: str, dimension: int, endpoint: str) -> None:
        self._model = model
        self._dimension = dimension
        self._endpoint = endpoint

    def parse(self, body: bytes, *, count: int) -> Vector:
        """The vectors of a response in the order of the texts, each of unit length.

        Raises:
            UnusableVectorError: If a vector is not finite.
            TransientModelError: If the response is not one vector for each of ``count`` texts.
            ModelConfigurationError: If a vector has another length than configured.
        """
        data = self._data(body, count)
        indices = self._text_indices([item.get("index") if isinstance(item, dict) else None for item in data])
        vectors: list[list[Any]] = [[]] * count
        for index, item in zip(indices, data, strict=True):
            vectors[index] = self._vector(item.get("embedding") if isinstance(item, dict) else None, index)
        return self._unit_rows(vectors)

    def unusable(self, problem: str) -> TransientModelError:
        """The error for a response from which nothing can be taken."""
        return TransientModelError(self._message(problem))

    def _message(self, problem: str) -> str:
        return f"{self._endpoint} gave no usable answer: {problem}"

    def _data(self, body: bytes, count: int) -> list[Any]:
        response = self._json(body)
        data = response.get("data") if isinstance(response, dict) else None
        if not isinstance(data, list):
            raise self.unusable(f"it has no list of data but {_excerpt(body)}")
        if len(data) != count:
            raise self.unusable(f"{len(data)} vectors for {count} texts")
        return data

    def _json(self, body: bytes) -> Any:
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError:
            pass
        try:
            # It accepts the NaN that some servers write, so that the other vectors can be used.
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self.unusable(f"it is not JSON but {_excerpt(body)}") from error

    def _text_indices(self, indices: list[Any]) -> list[int]:
        """The index of the text of each item: some endpoints leave the index out everywhere or where it is 0, some always send 0."""
        count = len(indices)
        if all(index is None for index in indices) or all(type(index) is int and index == 0 for index in indices):
            return list(range(count))
        remaining = set(range(count))
        for index in indices:
            if index is None and indices.count(None) == 1:
                continue
            if type(index) is not int or index not in remaining:
                raise self.unusable(f"a vector has the index {index!r}, but each of 0 to {count - 1} must occur once")
            remaining.remove(index)
        return [remaining.pop() if index is None else index for index in indices]

    def _vector(self, embedding: Any, index: int) -> list[Any]:
        if isinstance(embedding, str):
            return self._decoded(embedding, index)
        if isinstance(embedding, list) and len(embedding) == 1 and isinstance(embedding[0], list):
            return embedding[0]
        if isinstance(embedding, list):
            return embedding
        raise self.unusable(f"vector {index} is not a list of numbers")

    def _decoded(self, embedding: str, index: int) -> list[Any]:
        try:
            return list(np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").tolist())
        except (binascii.Error, ValueError) as error:
            raise self.unusable(f"vector {index} is not a list of numbers, nor such a list in base64") from error

    def _unit_rows(self, vectors: list[list[Any]]) -> Vector:
        for vector in vectors:
            if len(vector) != self._dimension:
                raise ModelConfigurationError(
                    f"{self._model} gives vectors of length {len(vector)}, VARVE_EMBEDDING__DIMENSION says {self._dimension}"
                )
        with np.errstate(over="ignore"):
            try:
                rows = np.array(vectors, dtype=np.float32)
            except (TypeError, ValueError, OverflowError) as error:
                raise self.unusable(f"a vector has an item that is not a number: {error}") from error
            # The norm is tested, not the numbers: a vector whose norm overflows would otherwise pass as a vector of zeros.
            if rows.ndim != 2 or not np.isfinite(np.linalg.norm(rows, axis=1)).all():
                raise UnusableVectorError(self._message("a vector has an item that is not a finite number"))
        return unit_rows(rows)


def _excerpt(body: bytes) -> str:
    return repr(body[:80].decode("utf-8", "replace"))


class EmbeddingClient:
    """Sends requests to one endpoint, and none while the endpoint wants no calls.

    Args:
        monotonic: A clock in seconds that never goes back.
    """

    def __init__(self, *, client: AsyncOpenAI, model: str, parser: ResponseParser, endpoint: str, monotonic: Callable[[], float]) -> None:
        self._client = client
        self._model = model
        self._parser = parser
        self._endpoint = endpoint
        self._credentials = CredentialOwner(dependency="embedding", endpoint=endpoint, variable="VARVE_EMBEDDING__API_KEY")
        self._monotonic = monotonic
        self._paused_until = float("-inf")
        self._sends_encoding_format = True

    async def embed(self, texts: Sequence[str]) -> Vector:
        """One request; one row of unit length for each text.

        Raises:
            OverloadedError: On 429, and without a request for as long afterwards as the endpoint wished.
            InputTooLongError: If the endpoint says that a text is too long.
            InputRefusedError: If it refuses the request otherwise (400, 422).
            UnusableVectorError: If a vector is not finite.
            FailedInputError: On 5xx except 503.
            TransientModelError: On a time-out, a lost connection or 503, and on a response that is not one vector for each text.
            ModelConfigurationError: On any other refusal, and when the vectors have another length than configured.
        """
        pause_left = self._paused_until - self._monotonic()
        if pause_left > 0:
            raise OverloadedError(f"{self._endpoint} accepts no calls for another {pause_left:.1f} s", retry_after_s=pause_left)
        try:
            body = await self._post_in_accepted_form(texts)
        except (APIConnectionError, APIStatusError) as error:
            mapped = embedding_error(error, endpoint=self._endpoint, now=datetime.now(UTC))
            if isinstance(mapped, OverloadedError):
                self._pause(mapped.pause_s)
            if isinstance(mapped, ModelConfigurationError) and mapped.refuses_credentials:
                credential_watch().note_refusal(self._credentials, str(mapped))
            raise mapped from error
        except APIError as error:
            raise self._parser.unusable(str(error)) from error
        credential_watch().note_success(self._credentials)
        return self._parser.parse(body, count=len(texts))

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    def _pause(self, seconds: float) -> None:
        self._paused_until = max(self._paused_until, self._monotonic() + seconds)

    async def _post_in_accepted_form(self, texts: Sequence[str]) -> bytes:
        sends_format = self._sends_encoding_format
        try:
            return await self._post(texts, sends_format=sends_format)
        except APIStatusError as error:
            if not sends_format or not _refuses_encoding_format(error):
                raise
        body = await self._post(texts, sends_format=False)
        self._sends_encoding_format = False
        return body

    async def _post(self, texts: Sequence[str], *, sends_format: bool) -> bytes:
        # Without it the client would ask for base64.
        extra: dict[str, Any] = {_ENCODING_FORMAT: "float" if sends_format else omit}
        response = await self._client.embeddings.with_raw_response.create(model=self._model, input=list(texts), extra_body=extra)
        return response.content


def embedding_error(error: APIError, *, endpoint: str, now: datetime) -> ModelError:
    """Maps an error of the client to one of ours.

    Args:
        error: The error that the client raised.
        endpoint: The endpoint's name, for the message.
        now: The time, for a ``Retry-After`` that is a date.

    Returns:
        An :class:`InputTooLongError` for 413, for 400 and 422 that mention a text's length, and for such a 500 (llama.cpp); an
        :class:`UnusableVectorError` for a 500 over a vector that cannot be written; a :class:`FailedInputError` for any other 5xx except
        503, which is about the server and not about a text; otherwise as
        :func:`models.openai_errors.model_error`.
    """
    mapped = model_error(error, endpoint=endpoint, now=now)
    if not isinstance(error, APIStatusError):
        return mapped
    message = error_message(error)
    match error.status_code:
        case 413:
            return InputTooLongError(str(mapped))
        case 400 | 422 if _TOO_LONG.search(message):
            return InputTooLongError(str(mapped))
        case 500 if _TOO_LONG_AS_500.search(message):
            return InputTooLongError(str(mapped))
        case 500 if _NOT_FINITE.search(message):
            return UnusableVectorError(str(mapped))
        case status if status >= 500 and status != _UNAVAILABLE:
            return FailedInputError(str(mapped), retry_after_s=getattr(mapped, "retry_after_s", None))
        case _:
            return mapped


def _refuses_encoding_format(error: APIStatusError) -> bool:
    return error.status_code in {400, 422} and _ENCODING_FORMAT in error_message(error)
