"""Fewer dimensions for the token vectors of all-MiniLM-L6-v2.

Late interaction needs every word more than every dimension: of LoCoMo's evidence it finds more with all tokens in 64 dimensions than with
16 merged ones in 384, at a quarter of the bytes, and more yet in 128 of half a byte each (ADR 28). The projection keeps the principal
components of token vectors of free English text. ``python -m evaluation fit-projection`` fits it and writes the file next to this module.
"""

from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from models.embedding.port import Vector, unit_rows

PROJECTION_FILE: Final = Path(__file__).with_name("minilm_projection.npy")
"""Shape ``(dimension of a dense vector, LATE_DIMENSION)``, half precision, its columns by falling variance."""
LATE_DIMENSION: Final = 128


def project_tokens(rows: Vector) -> Vector:
    """Projects token vectors.

    Args:
        rows: Shape ``(tokens, 384)``.

    Returns:
        Shape ``(tokens, LATE_DIMENSION)``, each row of unit length.
    """
    return unit_rows(rows @ _projection())


@lru_cache(maxsize=1)
def _projection() -> Vector:
    return np.asarray(np.load(PROJECTION_FILE, allow_pickle=False), dtype=np.float32)
