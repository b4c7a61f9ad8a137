"""The weights that a search by terms gives them: how often the query has each, and how rare each is among the tenant's points."""

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
from stores.edge.term_statistics import POINTS_IN_PAGE, Document, KeptTermStatistics, Page
from stores.filters import TenantFilter
from stores.port import TenantScope
from stores.query_plan import QueryPlan

_OF_NO_POINTS: Final = edge.SearchParams(idf=edge.IdfParams(corpus=edge.Filter(must=[edge.HasIdCondition({UUID(int=0)})])))
"""Term statistics of no points: they cost nothing, and make all terms alike, so that the query's own weights tell which is rare."""
_OF_NO_POINTS_EACH: Final = math.log(2)
"""The inverse frequency that the engine takes a term for then: ``ln(1 + (0 - 0 + 0.5) / (0 + 0.5))``."""
_TENANT_ONLY: Final = edge.PayloadSelector.Include([TENANT])


class TermWeights:
    """How rare terms are among a tenant's points, of one shard.

    Where the tenant has the shard for itself, the engine keeps the statistics. Else they are kept here, and the engine counts them as long
    as they are not.
    """

    def __init__(self) -> None:
        self._kept = KeptTermStatistics()
        self._tenants: set[str] = set()
        """Those that have points, or had some. Whether there is more than one is all that is asked: of several it holds two or more."""

    def load(self, engine: edge.EdgeShard) -> None:
        """Learns whose points a shard has."""
        self._tenants |= {str(each.value) for each in engine.facet(edge.FacetRequest(TENANT, limit=2, exact=True)).hits}

    def of(self, engine: edge.EdgeShard, plan: QueryPlan) -> WeightedTerms:
        """The terms of a query, weighted for an engine as it is now."""
        tenant = plan.filter.scope.tenant
        # What is kept is of now, not of earlier positions.
        if not plan.filter.at:
            if self._tenants <= {tenant}:
                return WeightedTerms(plan.terms, None, are_counted=False)
            if (kept := self._kept.of(tenant)) is not None:
                return WeightedTerms(kept.weighted(plan.terms, unit=_OF_NO_POINTS_EACH), _OF_NO_POINTS, are_counted=False)
        of_tenant = edge.SearchParams(idf=edge.IdfParams(corpus=filter_of(plan.filter.whole_tenant)))
        return WeightedTerms(plan.terms, of_tenant, are_counted=True)

    def read_on(self, engine: edge.EdgeShard) -> None:
        """Reads some of the points of a tenant that was asked for, if there are any to read. It takes a millisecond."""
        self._kept.read_on(partial(_read_page, engine))

    @contextmanager
    def following(self, engine: edge.EdgeShard, written: Collection[UUID], documents: Mapping[UUID, Document]) -> Iterator[None]:
        """Follows a write, which happens within the block.

        Args:
            engine: That it goes to.
            written: The points that are written.
            documents: What they count for then; those that are missing, such as tombstones, for nothing.
        """
        if len(self._tenants) < 2:
            self._tenants |= {each.tenant for each in documents.values()}
        if not self._kept:
            yield
            return
        before = _documents_of(engine, written)
        try:
            yield
        except BaseException:
            self._kept.clear()  # Nobody knows how much of it was written.
            raise
        self._kept.replace(before, {each: documents.get(each) for each in written})

    def clear(self) -> None:
        """Forgets all of it, where the shard's data is removed."""
        self._kept.clear()
        self._tenants.clear()


def _read_page(engine: edge.EdgeShard, tenant: str, start: UUID) -> Page:
    points_filter = filter_of(TenantFilter(scope=TenantScope(tenant)))
    request = edge.ScrollRequest(offset=start, limit=POINTS_IN_PAGE, filter=points_filter, with_payload=False, with_vector=[BM25])
    records, behind = engine.scroll(request)
    assert behind is None or isinstance(behind, UUID)
    return Page([_terms_of(each) for each in records], behind)


def _documents_of(engine: edge.EdgeShard, ids: Collection[UUID]) -> dict[UUID, Document]:
    """What stored points count for. Tombstones and marks have no tenant, and count for nothing."""
    found = engine.retrieve([*ids], _TENANT_ONLY, [BM25])
    return {id_of(each): Document(tenant, _terms_of(each)) for each in found if (tenant := (each.payload or {}).get(TENANT)) is not None}


def _terms_of(record: edge.Record) -> Sequence[int]:
    vectors: Any = record.vector
    return vectors[BM25].indices if isinstance(vectors, dict) and BM25 in vectors else ()
