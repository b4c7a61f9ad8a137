"""Cache of the number of a tenant's points with each term. Counting them in the engine takes at least half of a search by terms.

The cache reads a tenant's points page by page, one page after each recall. Until all pages are read, the engine counts in each search.
Writes update the statistics, so they always equal the engine's count.
"""

import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final
from uuid import UUID

from stores.lexical_analysis import Terms

POINTS_IN_PAGE: Final = 256
"""Points in one page, which takes the engine a millisecond."""
_MOST_TERMS: Final = 1 << 19
"""Total over all tenants: the terms of about 170 tenants with 1,000 memories each, which take 42 MB in Python."""
_ADMISSION_INTERVAL: Final = 8
"""After the first eviction, only every eighth missing tenant is admitted to the cache. With more active tenants than fit, the cache would
otherwise only read pages and evict them."""

_FIRST: Final = UUID(int=0)

NumbersOfTerms = Sequence[int]


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

    def weighted(self, terms: Terms, *, unit: float) -> Terms:
        """A query's terms, their weights multiplied by inverse frequency / ``unit``."""
        weights = [weight * self.inverse_frequency(term) / unit for term, weight in zip(terms.indices, terms.values, strict=True)]
        return Terms(terms.indices, weights)


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
