"""Vectors: their length, and dense vectors in records with eight bits per dimension, as base64 text.

Operators that need only similarity receive vectors in this form, so that a rebuild needs no embedding model. All vectors have unit length.
"""

import base64
import binascii
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.errors import MalformedRecordError

Vector = NDArray[np.float32]

_SCALE: Final = 127


def encode_vector(vector: Vector) -> str:
    """A vector as text. Equal vectors give equal texts.

    Args:
        vector: Shape ``(dimension,)``, unit length; values in [-1, 1].
    """
    return base64.b64encode(np.clip(np.rint(vector * _SCALE), -_SCALE, _SCALE).astype(np.int8).tobytes()).decode("ascii")


def decode_vector(text: str) -> Vector:
    """The vector of a text, with unit length; a vector of zeros stays one.

    Raises:
        MalformedRecordError: If the text is not base64.
    """
    try:
        raw = np.frombuffer(base64.b64decode(text, validate=True), dtype=np.int8).astype(np.float32)
    except (binascii.Error, ValueError) as error:
        raise MalformedRecordError(f"not a vector in base64: {text[:40]!r}") from error
    return unit(raw)


def unit(vector: Vector) -> Vector:
    """The vector divided by its length; a vector of zeros stays one."""
    length = float(np.linalg.norm(vector))
    return vector if length == 0 else np.asarray(vector / length, dtype=np.float32)


def unit_rows(rows: Vector) -> Vector:
    """The rows, each divided by its length; a row of zeros stays one."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)
