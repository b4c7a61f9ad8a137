"""Term weights of a search: the frequency of each term in the query, times its inverse document frequency in the tenant's points."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final
from uuid import UUID

import qdrant_edge as edge

from stores.collection import BM25, TENANT
from stores.edge.records import id_of
from stores.edge.requests import WeightedTerms, filter_of
from stores.edge.term_statistics import POINTS_IN_PAGE, Document, Page, TermStatisticsCache
from stores.filters import MemoryFilter
from stores.port import TenantScope
from stores.query_plan import QueryPlan

_OF_NO_POINTS: Final = edge.SearchParams(idf=edge.IdfParams(corpus=edge.Filter(must=[edge.HasIdCondition({UUID(int=0)})])))
"""Term statistics over no points. They cost nothing and weight all terms equally, so the query's weights can contain the real
frequencies."""
_IDF_OF_NO_POINTS: Final = math.log(2)
"""The engine's inverse frequency of every term with these statistics: ``ln(1 + (0 - 0 + 0.5) / (0 + 0.5))``."""
_TENANT_ONLY: Final = edge.PayloadSelector.Include([TENANT])


class TermWeights:
    """Inverse document frequencies of the terms in a shard, per tenant.

    If the shard has only one tenant, the engine's own statistics are used. Otherwise they are cached here. Until the cache is complete, the
    engine counts them for each search.
    """

    def __init__(self) -> None:
        self._statistics = TermStatisticsCache()
        self._tenants: set[str] = set()
        """Tenants that have or had points. With several tenants it holds at least two of them, not all."""

    def load(self, engine: edge.EdgeShard) -> None:
        """Reads which tenants have points in the shard."""
        self._tenants |= {str(each.value) for each in engine.facet(edge.FacetRequest(TENANT, limit=2, exact=True)).hits}

    def of(self, engine: edge.EdgeShard, plan: QueryPlan) -> WeightedTerms:
        """The weighted terms of a query, for the engine's current state."""
        tenant = plan.filter.scope.tenant
        # The statistics are current. They do not hold for earlier positions.
        if not plan.filter.at:
            if self._tenants <= {tenant}:
                return WeightedTerms(plan.terms, None, are_counted=False)
            if (statistics := self._statistics.of(tenant)) is not None:
                return WeightedTerms(statistics.weighted(plan.terms, unit=_IDF_OF_NO_POINTS), _OF_NO_POINTS, are_counted=False)
        of_tenant = edge.SearchParams(idf=edge.IdfParams(corpus=filter_of(plan.filter.whole_tenant)))
        return WeightedTerms(plan.terms, of_tenant, are_counted=True)

    def read_on(self, engine: edge.EdgeShard) -> None:
        """Reads one page of unread points into the statistics, if there is one. It takes a millisecond."""
        self._statistics.read_on(partial(_read_page, engine))

    @contextmanager
    def following(self, engine: edge.EdgeShard, written: Collection[UUID], documents: Mapping[UUID, Document]) -> Iterator[None]:
        """Updates the statistics for the write within the block. Written points without a document, such as tombstones, are not counted."""
        if len(self._tenants) < 2:
            self._tenants |= {each.tenant for each in documents.values()}
        if not self._statistics:
            yield
            return
        before = _documents_of(engine, written)
        try:
            yield
        except BaseException:
            self._statistics.clear()  # It is unknown which points were written.
            raise
        self._statistics.replace(before, {each: documents.get(each) for each in written})

    def clear(self) -> None:
        """Resets everything, when the shard's data is removed."""
        self._statistics.clear()
        self._tenants.clear()


def _read_page(engine: edge.EdgeShard, tenant: str, start: UUID) -> Page:
    points_filter = filter_of(MemoryFilter.everything(TenantScope(tenant)))
    request = edge.ScrollRequest(offset=start, limit=POINTS_IN_PAGE, filter=points_filter, with_payload=False, with_vector=[BM25])
    records, next_id = engine.scroll(request)
    assert next_id is None or isinstance(next_id, UUID)
    return Page([_terms_of(each) for each in records], next_id)


def _documents_of(engine: edge.EdgeShard, ids: Collection[UUID]) -> dict[UUID, Document]:
    """The documents of stored points. Tombstones and checkpoints have no tenant, so they have no document."""
    found = engine.retrieve([*ids], _TENANT_ONLY, [BM25])
    return {id_of(each): Document(tenant, _terms_of(each)) for each in found if (tenant := (each.payload or {}).get(TENANT)) is not None}


def _terms_of(record: edge.Record) -> Sequence[int]:
    vectors: Any = record.vector
    return vectors[BM25].indices if isinstance(vectors, dict) and BM25 in vectors else ()
