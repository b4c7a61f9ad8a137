"""Reading an embeddings answer, in the forms that endpoints give it."""

import base64
import binascii
import json
from typing import Any

import numpy as np
import orjson

from models.embedding.errors import UnusableVectorError
from models.embedding.pooling import unit_rows
from models.embedding.port import Vector
from models.errors import ModelConfigurationError, TransientModelError


class AnswerReader:
    """Takes the vectors out of one endpoint's answers."""

    def __init__(self, *, model: str, dimension: int, endpoint: str) -> None:
        """Reads answers of a model.

        Args:
            model: The model's name, for messages.
            dimension: The length its vectors must have.
            endpoint: The endpoint's name, for messages.
        """
        self._model = model
        self._dimension = dimension
        self._endpoint = endpoint

    def rows(self, body: bytes, *, count: int) -> Vector:
        """The vectors of an answer in the order of the texts, each of unit length.

        Raises:
            UnusableVectorError: If a vector holds what is no finite number.
            TransientModelError: If the answer is not one vector for each of ``count`` texts.
            ModelConfigurationError: If a vector has another length than configured.
        """
        data = self._data(body, count)
        places = self._places([item.get("index") if isinstance(item, dict) else None for item in data])
        vectors: list[list[Any]] = [[]] * count
        for place, item in zip(places, data, strict=True):
            vectors[place] = self._vector(item.get("embedding") if isinstance(item, dict) else None, place)
        return self._unit_rows(vectors)

    def unusable(self, why: str) -> TransientModelError:
        """The error for an answer that nothing can be taken from."""
        return TransientModelError(self._said(why))

    def _said(self, why: str) -> str:
        return f"{self._endpoint} gave no usable answer: {why}"

    def _data(self, body: bytes, count: int) -> list[Any]:
        answer = self._parsed(body)
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, list):
            raise self.unusable(f"it has no list of data but {_beginning(body)}")
        if len(data) != count:
            raise self.unusable(f"{len(data)} vectors for {count} texts")
        return data

    def _parsed(self, body: bytes) -> Any:
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError:
            pass
        try:
            # It takes the NaN that some servers write, and with it the vectors beside can be told from the broken one.
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self.unusable(f"it is not JSON but {_beginning(body)}") from error

    def _places(self, told: list[Any]) -> list[int]:
        """Which text each item is of: some endpoints leave the index out everywhere or where it is 0, some always say 0."""
        count = len(told)
        if all(place is None for place in told) or all(type(place) is int and place == 0 for place in told):
            return list(range(count))
        left = set(range(count))
        for place in told:
            if place is None and told.count(None) == 1:
                continue
            if type(place) is not int or place not in left:
                raise self.unusable(f"a vector has the index {place!r}, where each of 0 to {count - 1} is due once")
            left.remove(place)
        return [left.pop() if place is None else place for place in told]

    def _vector(self, told: Any, place: int) -> list[Any]:
        if isinstance(told, str):
            return self._decoded(told, place)
        if isinstance(told, list) and len(told) == 1 and isinstance(told[0], list):
            return told[0]
        if isinstance(told, list):
            return told
        raise self.unusable(f"vector {place} is no list of numbers")

    def _decoded(self, told: str, place: int) -> list[Any]:
        try:
            return list(np.frombuffer(base64.b64decode(told, validate=True), dtype="<f4").tolist())
        except (binascii.Error, ValueError) as error:
            raise self.unusable(f"vector {place} is no list of numbers, nor such a list in base64") from error

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
            # By their lengths: one that overflows would otherwise pass as a vector of zeros.
            if rows.ndim != 2 or not np.isfinite(np.linalg.norm(rows, axis=1)).all():
                raise UnusableVectorError(self._said("a vector holds what is no finite number"))
        return unit_rows(rows)


def _beginning(body: bytes) -> str:
    return repr(body[:80].decode("utf-8", "replace"))
