"""Vectors of unit length."""

import numpy as np

from models.embedding.port import Vector


def unit_rows(rows: Vector) -> Vector:
    """The rows, each divided by its length; a row of zeros stays one."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)
