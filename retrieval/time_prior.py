"""How well a memory's days fit the times that a query asks for: a soft prior, never a filter.

A memory of the asked days fits wholly, one beside them the less the farther off it is, and one that is known to a month or a year alone the
less the more days it may be of.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import numpy as np

from memory.dates.event_date import days_of
from memory.dates.query_dates import AskedSpan, asked_offset, asked_spans
from memory.records import Memory
from memory.records.wording import indexed_text
from memory.terms import terms_of
from retrieval.feature_vector import FeatureVector
from stores.port import ScoredMemory

PRIOR_WEIGHT: Final = 0.15
"""Where no model is fitted, the part of what a score lacks of 1 that a memory of the asked time gains."""
_LEAST_HALVING_DAYS: Final = 2.0
"""Beside a single day: what was told on it is often of the day before."""
_MOST_HALVING_DAYS: Final = 45.0
_MOST_ANCHORS: Final = 3
_MOST_ANCHOR_DAYS: Final = 31
"""A memory of more days tells too little of what to count from."""


def names_time(query: str, now: datetime) -> bool:
    """Whether a query asks for a time at all.

    Args:
        query: The query's text.
        now: The moment of the query.
    """
    return bool(asked_spans(query, now.date()) or asked_offset(query))


def time_fits(query: str, candidates: Sequence[ScoredMemory], now: datetime) -> FeatureVector:
    """By candidate, how well it fits the best of the times that a query asks for, in [0, 1]; all 0 where it asks for none.

    Args:
        query: The query's text.
        candidates: Best first. Of "two weeks before the trip" the trip is looked for among them.
        now: The moment of the query.
    """
    asked = asked_spans(query, now.date()) or _from_memories(query, candidates)
    if not asked:
        return np.zeros(len(candidates))
    return np.array([max(_fit(each.memory, span) for span in asked) for each in candidates])


def with_time_prior(query: str, candidates: Sequence[ScoredMemory], now: datetime, *, explain: bool) -> list[ScoredMemory]:
    """The candidates with S_origin raised by how well they fit the asked time; it stays in [0, 1].

    Args:
        query: The query's text.
        candidates: Best first.
        now: The moment of the query.
        explain: Whether they get what it adds, as ``prior_time``.
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
    """The asked times that are counted from what memories tell of: the best candidates that have all of its words."""
    offset = asked_offset(query)
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
