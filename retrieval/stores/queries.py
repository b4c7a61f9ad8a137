"""A :class:`~retrieval.stores.port.RecallQuery` as the adapters take it: checked, and turned into a plan."""

import numpy as np

from models.embedding.port import Vector
from retrieval.errors import StoreRejectedError
from retrieval.stores.fusion import HybridPlan
from retrieval.stores.lexical import query_terms
from retrieval.stores.points import vectors_problem
from retrieval.stores.port import RecallQuery
from retrieval.stores.scope import TenantFilter

MAX_CANDIDATES = 10_000
"""Most candidates and results of one recall."""


def check_query(query: RecallQuery) -> None:
    """Refuses a query that an engine would refuse.

    Raises:
        StoreRejectedError: Says what is wrong with it.
    """
    for name, value in (("limit", query.limit), ("prefetch", query.prefetch)):
        if not 1 <= value <= MAX_CANDIDATES:
            raise StoreRejectedError(f"a recall's {name} must lie in 1..{MAX_CANDIDATES}, got {value}")
    if problem := vectors_problem(query.embedding, query.embedding.dense.size):
        raise StoreRejectedError(f"a recall cannot be run: {problem}")


def floats(vector: Vector) -> memoryview:
    """The numbers of a vector, 32 bits each, one after another in memory."""
    return np.ascontiguousarray(vector, dtype=np.float32).data


def plan_of(query: RecallQuery) -> HybridPlan:
    """The query as an engine's adapter takes it."""
    late = query.embedding.late
    return HybridPlan(
        filter=TenantFilter(
            scope=query.scope,
            kinds=query.kinds,
            types=query.types,
            since=query.since,
            until=query.until,
            generation=query.generation,
            alive_at=query.alive_at,
        ),
        dense=floats(query.embedding.dense),
        terms=query_terms(query.text),
        late=[] if late is None else [floats(row) for row in late],
        limit=query.limit,
        prefetch=max(query.prefetch, query.limit),
    )
