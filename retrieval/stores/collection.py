"""The vectors, payload fields and indexes of the collection. Both engines have the same."""

from typing import Final

DENSE: Final = "dense"
"""One vector for the whole text, compared by cosine."""
BM25: Final = "bm25"
"""Sparse term weights. The engine multiplies the tenant's inverse document frequency in."""
LATE: Final = "late"
"""Token vectors in half precision, compared by MaxSim. A point may lack them."""

TENANT: Final = "tenant"
"""Its index is a tenant index: the engine keeps the points of one tenant together."""
USER: Final = "user"
KIND: Final = "kind"
TYPE: Final = "type"
GENERATION: Final = "generation"
EVENT_TIME: Final = "event_time"
EXPIRES_AT: Final = "expires_at"
RECORD: Final = "record"
"""The memory's JSON text. It is not indexed."""
MODEL: Final = "model"
"""The embedding model that made the vectors. It is not indexed."""

KEYWORD_FIELDS: Final = (USER, KIND, TYPE, GENERATION)
"""Fields with a keyword index."""
DATETIME_FIELDS: Final = (EVENT_TIME, EXPIRES_AT)
"""Fields with a datetime index."""
