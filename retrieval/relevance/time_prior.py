"""Time prior: how well a memory's days fit the times that a query asks for. It changes scores and never filters.

A memory of the requested days fits completely. The fit of other days decreases with their distance. The fit of a memory whose month or year
is known decreases with the number of possible days.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import numpy as np

from memory.dates.event_date import days_of
from memory.dates.query_dates import AskedSpan
from memory.records import Memory
from memory.records.wording import indexed_text
from memory.texts.terms import terms_of
from retrieval.query.question import offset_in, spans_in
from retrieval.relevance.feature_vector import FeatureVector
from stores.port import ScoredMemory

PRIOR_WEIGHT: Final = 0.15
"""For rankers without a feature for time: a memory of the requested time gains this share of the difference between its score and 1."""
_LEAST_HALVING_DAYS: Final = 2.0
"""For a single day: people often talk about the day before."""
_MOST_HALVING_DAYS: Final = 45.0
_MOST_ANCHORS: Final = 3
_MOST_ANCHOR_DAYS: Final = 31
"""A memory of more days is too imprecise to count from."""


def names_time(query: str, now: datetime) -> bool:
    """Whether a query asks for a time.

    Args:
        query: The query's text.
        now: The moment of the query.
    """
    return bool(spans_in(query, now.date()) or offset_in(query))


def time_fits(query: str, candidates: Sequence[ScoredMemory], now: datetime) -> FeatureVector:
    """For each candidate, its best fit to a time that the query asks for, in [0, 1]. All 0 if the query asks for no time.

    Args:
        query: The query's text.
        candidates: Best first. The trip in "two weeks before the trip" is searched among them.
        now: The moment of the query.
    """
    asked = spans_in(query, now.date()) or _from_memories(query, candidates)
    if not asked:
        return np.zeros(len(candidates))
    return np.array([max(_fit(each.memory, span) for span in asked) for each in candidates])


def with_time_prior(query: str, candidates: Sequence[ScoredMemory], now: datetime, *, explain: bool) -> list[ScoredMemory]:
    """The candidates with S_origin raised by their fit to the requested time. It stays in [0, 1].

    Args:
        query: The query's text.
        candidates: Best first.
        now: The moment of the query.
        explain: Whether to add the difference to the parts, as ``prior_time``.
    """
    fits = time_fits(query, candidates, now).tolist()
    if not any(fits):
        return list(candidates)
    added = [PRIOR_WEIGHT * fit * (1 - each.score) for each, fit in zip(candidates, fits, strict=True)]
    return [
        ScoredMemory(each.memory, each.score + more, each.parts | {"prior_time": more} if explain else each.parts)
        for each, more in zip(candidates, added, strict=True)
    ]


def _fit(memory: Memory, asked: AskedSpan) -> float:
    days = days_of(memory.event_time, memory.date)
    if days is None:
        return 0.0
    first, last = days
    gap = max(0, (asked.first - last).days, (first - asked.last).days)
    halving = min(_MOST_HALVING_DAYS, max(_LEAST_HALVING_DAYS, asked.days / 2))
    return float(2.0 ** (-gap / halving)) * min(1.0, (asked.days + 2 * halving) / ((last - first).days + 1))


def _from_memories(query: str, candidates: Sequence[ScoredMemory]) -> list[AskedSpan]:
    """The requested times relative to an event, which is searched among the candidates: the best ones with all of its words."""
    offset = offset_in(query)
    words = frozenset(terms_of(offset.anchor)) if offset else frozenset()
    found: list[AskedSpan] = []
    if offset is None or not words:
        return found
    for each in candidates:
        days = days_of(each.memory.event_time, each.memory.date)
        if days is None or (days[1] - days[0]).days >= _MOST_ANCHOR_DAYS or not words.issubset(terms_of(indexed_text(each.memory))):
            continue
        if span := offset.from_days(*days):
            found.append(span)
        if len(found) == _MOST_ANCHORS:
            break
    return found
