"""Parsing an embeddings response, in the forms that endpoints give it."""

import base64
import binascii
import json
from typing import Any

import numpy as np
import orjson

from models.embedding.port import Vector, unit_rows
from models.errors import ModelConfigurationError, TransientModelError, UnusableVectorError


class ResponseParser:
    """Takes the vectors out of one endpoint's responses.

    Args:
        model: The model's name, for messages.
        dimension: The length its vectors must have.
        endpoint: The endpoint's name, for messages.
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
        """Which text each item belongs to: some endpoints leave the index out everywhere or where it is 0, some always send 0."""
        count = len(indices)
        if all(index is None for index in indices) or all(type(index) is int and index == 0 for index in indices):
            return list(range(count))
        remaining = set(range(count))
        for index in indices:
            if index is None and indices.count(None) == 1:
                continue
            if type(index) is not int or index not in remaining:
                raise self.unusable(f"a vector has the index {index!r}, where each of 0 to {count - 1} is due once")
            remaining.remove(index)
        return [remaining.pop() if index is None else index for index in indices]

    def _vector(self, embedding: Any, index: int) -> list[Any]:
        if isinstance(embedding, str):
            return self._decoded(embedding, index)
        if isinstance(embedding, list) and len(embedding) == 1 and isinstance(embedding[0], list):
            return embedding[0]
        if isinstance(embedding, list):
            return embedding
        raise self.unusable(f"vector {index} is no list of numbers")

    def _decoded(self, embedding: str, index: int) -> list[Any]:
        try:
            return list(np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").tolist())
        except (binascii.Error, ValueError) as error:
            raise self.unusable(f"vector {index} is no list of numbers, nor such a list in base64") from error

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
                raise self.unusable(f"a vector holds what is no number: {error}") from error
            # The norm is tested, not the numbers: a vector whose norm overflows would otherwise pass as a vector of zeros.
            if rows.ndim != 2 or not np.isfinite(np.linalg.norm(rows, axis=1)).all():
                raise UnusableVectorError(self._message("a vector holds what is no finite number"))
        return unit_rows(rows)


def _excerpt(body: bytes) -> str:
    return repr(body[:80].decode("utf-8", "replace"))
