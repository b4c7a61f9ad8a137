"""Measures of one query's rankings of messages and of sessions, with binary relevance."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any, Final

from evaluation.intervals import named_means

MEASURES: Final = ("recall_at_5", "recall_at_10", "hit_at_10", "ndcg_at_10")


@dataclass(frozen=True, slots=True)
class Quality:
    """Quality of the first ten of a ranking."""

    recall_at_5: float
    """Share of the evidence among the first five."""
    recall_at_10: float
    hit_at_10: float
    """1 if any of the evidence is among the first ten."""
    ndcg_at_10: float
    """Gains are 1 or 0; rank i is discounted by log2(i + 1) (Jarvelin and Kekalainen 2002, as commonly implemented)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Quality of one query's rankings."""

    messages: Quality | None
    """None: the source message of no memory is known."""
    sessions: Quality


def quality_of(ranking: Sequence[str], right: Collection[str]) -> Quality:
    """Judges a ranking.

    Args:
        ranking: Ids, best first, each once.
        right: The evidence, not empty.
    """
    found = [each in right for each in ranking[:10]]
    ideal = _gain([True] * min(len(right), 10))
    return Quality(sum(found[:5]) / len(right), sum(found) / len(right), float(any(found)), _gain(found) / ideal)


def _gain(found: Sequence[bool]) -> float:
    return sum(is_right / log2(rank + 1) for rank, is_right in enumerate(found, start=1))


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Means over queries, ``messages.recall_at_10`` and so on, with their intervals (``recall_at_10_interval``)."""
    of_messages = [each.messages for each in outcomes if each.messages is not None]
    return {
        "queries": len(outcomes),
        "messages": _means(of_messages),
        "sessions": _means([each.sessions for each in outcomes]),
    }


def _means(qualities: Sequence[Quality]) -> dict[str, Any]:
    if not qualities:
        return {"queries": 0}
    return {"queries": len(qualities), **named_means(MEASURES, [[getattr(each, name) for name in MEASURES] for each in qualities])}
