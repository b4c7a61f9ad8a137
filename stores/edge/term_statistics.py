"""How many of a tenant's points have each term, kept: to count it anew takes the engine half of a search by terms, or more.

The statistics of a tenant are read page by page, one behind each recall, whose search has the engine count until all are read. What is
written meanwhile, and later, changes them: they are at any moment what the engine would count.
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
"""A page takes the engine a millisecond."""
_MOST_TERMS: Final = 1 << 19
"""Of all tenants together, each tenant's counted for itself: those of about 170 tenants of 1,000 memories, for which Python takes 42 MB."""
_ADMITTED: Final = 8
"""Once statistics had to make way for others', those of each eighth tenant that is asked for in vain are read: where more tenants are asked
than there is room for, to read is otherwise all that would come of it."""

_FIRST: Final = UUID(int=0)

NumbersOfTerms = Sequence[int]


@dataclass(frozen=True, slots=True)
class Document:
    """What a point counts for."""

    tenant: str
    terms: NumbersOfTerms
    """Each once."""


@dataclass(frozen=True, slots=True)
class Page:
    """Points of a tenant in the order of their ids."""

    documents: Sequence[NumbersOfTerms]
    """The terms of each point; some have none."""
    behind: UUID | None
    """The first point of the next page; None: this one is the last."""


@dataclass(slots=True)
class TermStatistics:
    """Those of one tenant."""

    documents: int = 0
    """Points that have terms at all."""
    having: Counter[int] = field(default_factory=Counter)
    """By the number of a term, how many points have it."""
    unread_from: UUID | None = _FIRST
    """The first point that is not counted yet; None: all are."""

    def inverse_frequency(self, term: int) -> float:
        """``ln(1 + (N - n + 0.5) / (n + 0.5))``: see :mod:`stores.lexical_analysis`."""
        having = self.having[term]
        return math.log(1 + (self.documents - having + 0.5) / (having + 0.5))

    def weighted(self, terms: Terms, *, unit: float) -> Terms:
        """A query's terms, each weighted by its inverse frequency too.

        Args:
            terms: The query's.
            unit: The inverse frequency that counts as 1.
        """
        weights = [weight * self.inverse_frequency(term) / unit for term, weight in zip(terms.indices, terms.values, strict=True)]
        return Terms(terms.indices, weights)


class KeptTermStatistics:
    """The statistics of the tenants that were asked for last.

    Args:
        most_terms: Terms that are kept, of all tenants together.
    """

    def __init__(self, *, most_terms: int = _MOST_TERMS) -> None:
        self._most_terms = most_terms
        self._tenants: OrderedDict[str, TermStatistics] = OrderedDict()
        self._unread: dict[str, TermStatistics] = {}
        """Those of the same tenants that are not read to the end, in the order in which it is their turn."""
        self._terms = 0
        self._is_crowded = False
        self._in_vain = 0

    def __bool__(self) -> bool:
        """Whether any are kept, and have to be told what is written."""
        return bool(self._tenants)

    def of(self, tenant: str) -> TermStatistics | None:
        """A tenant's statistics; None as long as some of its points are not read. Asking makes them be read."""
        kept = self._tenants.get(tenant)
        if kept is None:
            if self._is_crowded:
                self._in_vain += 1
                if self._in_vain % _ADMITTED:
                    return None
            kept = self._tenants[tenant] = TermStatistics()
            self._unread[tenant] = kept
        self._tenants.move_to_end(tenant)
        return kept if kept.unread_from is None else None

    def read_on(self, read: Callable[[str, UUID], Page]) -> None:
        """Reads one page of a tenant that was asked for, if some are still to be read.

        Args:
            read: Reads a tenant's page that begins with a point, or the next one where that is gone.
        """
        if not self._unread:
            return
        tenant, kept = next(iter(self._unread.items()))
        assert kept.unread_from is not None
        page = read(tenant, kept.unread_from)
        before = len(kept.having)
        kept.documents += sum(map(bool, page.documents))
        kept.having.update(chain.from_iterable(page.documents))
        kept.unread_from = page.behind
        self._terms += len(kept.having) - before
        del self._unread[tenant]
        if page.behind is not None:
            self._unread[tenant] = kept  # behind the others: who has many points keeps nobody waiting
        self._make_room()

    def replace(self, before: Mapping[UUID, Document], after: Mapping[UUID, Document | None]) -> None:
        """Counts points that have been written.

        Args:
            before: What those of them counted for that were there.
            after: What each counts for now; None: for nothing.
        """
        for point_id, document in after.items():
            self._count_point(point_id, before.get(point_id), -1)
            self._count_point(point_id, document, 1)
        self._make_room()

    def clear(self) -> None:
        """Keeps none."""
        self._tenants.clear()
        self._unread.clear()
        self._terms = 0

    def _count_point(self, point_id: UUID, document: Document | None, number: int) -> None:
        kept = None if document is None else self._tenants.get(document.tenant)
        # A point that is still to be read is counted as it is by then.
        if document is not None and kept is not None and (kept.unread_from is None or point_id < kept.unread_from):
            self._count(kept, document.terms, number)

    def _count(self, kept: TermStatistics, terms: NumbersOfTerms, number: int) -> None:
        if not terms:
            return
        kept.documents += number
        before = len(kept.having)
        for term in terms:
            kept.having[term] += number
            if not kept.having[term]:
                del kept.having[term]
        self._terms += len(kept.having) - before

    def _make_room(self) -> None:
        while self._terms > self._most_terms:
            self._is_crowded = True
            tenant, kept = self._tenants.popitem(last=False)
            self._unread.pop(tenant, None)
            self._terms -= len(kept.having)
