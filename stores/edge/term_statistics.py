"""Term weights of a search: the term's frequency in the query, times its inverse document frequency in the tenant's points.

The number of a tenant's points with each term is cached: counting them in the engine takes at least half of a search by terms.

The cache reads a tenant's points page by page, one page after each recall. Until all pages are read, the engine counts in each search.
Writes update the statistics, so they always equal the engine's count.
"""

import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Final
from uuid import UUID

import qdrant_edge as edge

from stores.collection import BM25, TENANT
from stores.edge.records import id_of
from stores.edge.requests import WeightedTerms, filter_of
from stores.filters import MemoryFilter
from stores.lexical_analysis import Terms
from stores.port import TenantScope
from stores.query_plan import QueryPlan

POINTS_IN_PAGE: Final = 256
"""Points in one page, which takes the engine a millisecond."""
_MOST_TERMS: Final = 1 << 19
"""Total over all tenants: the terms of about 170 tenants with 1,000 memories each, which take 42 MB in Python."""
_ADMISSION_INTERVAL: Final = 8
"""After the first eviction, only every eighth missing tenant is admitted to the cache. With more active tenants than fit, the cache would
otherwise only read pages and evict them."""

_FIRST: Final = UUID(int=0)

NumbersOfTerms = Sequence[int]

_OF_NO_POINTS: Final = edge.SearchParams(idf=edge.IdfParams(corpus=edge.Filter(must=[edge.HasIdCondition({UUID(int=0)})])))
"""Term statistics over no points. They cost nothing and weight all terms equally, so the query's weights can contain the real
frequencies."""
_IDF_OF_NO_POINTS: Final = math.log(2)
"""The engine's inverse frequency of every term with these statistics: ``ln(1 + (0 - 0 + 0.5) / (0 + 0.5))``."""
_TENANT_ONLY: Final = edge.PayloadSelector.Include([TENANT])


@dataclass(frozen=True, slots=True)
class Document:
    """A point's contribution to the statistics."""

    tenant: str
    terms: NumbersOfTerms
    """Without duplicates."""


@dataclass(frozen=True, slots=True)
class Page:
    """Points of a tenant, ordered by id."""

    documents: Sequence[NumbersOfTerms]
    """The terms of each point; they may be empty."""
    next_id: UUID | None
    """The first point of the next page. None: this is the last page."""


@dataclass(slots=True)
class TermStatistics:
    """The statistics of one tenant."""

    documents: int = 0
    """Number of points with at least one term."""
    having: Counter[int] = field(default_factory=Counter)
    """The number of points with each term, by term number."""
    unread_from: UUID | None = _FIRST
    """The first point that is not counted yet. None: all are counted."""

    def inverse_frequency(self, term: int) -> float:
        """``ln(1 + (N - n + 0.5) / (n + 0.5))``: see :mod:`stores.lexical_analysis`."""
        having = self.having[term]
        return math.log(1 + (self.documents - having + 0.5) / (having + 0.5))

    def weighted(self, terms: Terms) -> Terms:
        """A query's terms, their weights multiplied by inverse frequency, in units of the IDF that the engine applies."""
        weighed = zip(terms.indices, terms.values, strict=True)
        return Terms(terms.indices, [weight * self.inverse_frequency(term) / _IDF_OF_NO_POINTS for term, weight in weighed])


class TermStatisticsCache:
    """LRU cache of tenants' statistics, with at most ``most_terms`` terms of all tenants together."""

    def __init__(self, *, most_terms: int = _MOST_TERMS) -> None:
        self._most_terms = most_terms
        self._tenants: OrderedDict[str, TermStatistics] = OrderedDict()
        self._unread: dict[str, TermStatistics] = {}
        """Cached tenants whose points are not all read, in the order of the next reads."""
        self._terms = 0
        self._has_evicted = False
        self._misses = 0

    def __bool__(self) -> bool:
        """Whether it holds any statistics, which writes must then update."""
        return bool(self._tenants)

    def of(self, tenant: str) -> TermStatistics | None:
        """A tenant's statistics; None until all of its points are read. The first call schedules the reads."""
        statistics = self._tenants.get(tenant)
        if statistics is None:
            if self._has_evicted:
                self._misses += 1
                if self._misses % _ADMISSION_INTERVAL:
                    return None
            statistics = self._tenants[tenant] = TermStatistics()
            self._unread[tenant] = statistics
        self._tenants.move_to_end(tenant)
        return statistics if statistics.unread_from is None else None

    def read_on(self, read: Callable[[str, UUID], Page]) -> None:
        """Reads the next page of one tenant, if any page is unread. ``read`` gets the tenant and the page's first id."""
        if not self._unread:
            return
        tenant, statistics = next(iter(self._unread.items()))
        assert statistics.unread_from is not None
        page = read(tenant, statistics.unread_from)
        terms_before = len(statistics.having)
        statistics.documents += sum(map(bool, page.documents))
        statistics.having.update(chain.from_iterable(page.documents))
        statistics.unread_from = page.next_id
        self._terms += len(statistics.having) - terms_before
        del self._unread[tenant]
        if page.next_id is not None:
            self._unread[tenant] = statistics  # last in the order, so that a large tenant does not delay the others
        self._evict()

    def replace(self, before: Mapping[UUID, Document], after: Mapping[UUID, Document | None]) -> None:
        """Updates the statistics for written points: their old documents, and the new ones (None: not counted)."""
        for point_id, document in after.items():
            self._count_point(point_id, before.get(point_id), -1)
            self._count_point(point_id, document, 1)
        self._evict()

    def clear(self) -> None:
        """Removes all statistics."""
        self._tenants.clear()
        self._unread.clear()
        self._terms = 0

    def _count_point(self, point_id: UUID, document: Document | None, number: int) -> None:
        statistics = None if document is None else self._tenants.get(document.tenant)
        # Unread points are counted when their page is read.
        if document is not None and statistics is not None and (statistics.unread_from is None or point_id < statistics.unread_from):
            self._count(statistics, document.terms, number)

    def _count(self, statistics: TermStatistics, terms: NumbersOfTerms, number: int) -> None:
        if not terms:
            return
        statistics.documents += number
        terms_before = len(statistics.having)
        for term in terms:
            statistics.having[term] += number
            if not statistics.having[term]:
                del statistics.having[term]
        self._terms += len(statistics.having) - terms_before

    def _evict(self) -> None:
        while self._terms > self._most_terms:
            self._has_evicted = True
            tenant, statistics = self._tenants.popitem(last=False)
            self._unread.pop(tenant, None)
            self._terms -= len(statistics.having)


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

    def of(self, plan: QueryPlan) -> WeightedTerms:
        """The weighted terms of a query, for the engine's current state."""
        tenant = plan.filter.scope.tenant
        # The statistics are current. They do not hold for earlier positions.
        if not plan.filter.at:
            if self._tenants <= {tenant}:
                return WeightedTerms(plan.terms, None, are_counted=False)
            if (statistics := self._statistics.of(tenant)) is not None:
                return WeightedTerms(statistics.weighted(plan.terms), _OF_NO_POINTS, are_counted=False)
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
