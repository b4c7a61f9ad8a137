"""The names that a stored point is made of, alike in both engines."""

from typing import Final

from retrieval.stores.scope import EVENT_TIME, EXPIRES_AT, GENERATION, KIND, TYPE, USER

DENSE: Final = "dense"
"""One vector for the whole text; cosine."""
BM25: Final = "bm25"
"""Sparse term weights; the engine multiplies the tenant's inverse document frequency in."""
LATE: Final = "late"
"""Token vectors, half-precision, compared by MaxSim; a point may lack them."""

RECORD: Final = "record"
"""The memory's JSON text."""
MODEL: Final = "model"
"""The embedding model that made the vectors."""

KEYWORD_FIELDS: Final = (USER, KIND, TYPE, GENERATION)
"""Indexed as words, besides the tenant, which has an index of its own kind."""
TIME_FIELDS: Final = (EVENT_TIME, EXPIRES_AT)
"""Indexed as times."""
