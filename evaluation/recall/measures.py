"""Measures of a ranking of messages, as LoCoMo's evidence judges it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evaluation.intervals import named_means
from memory.records import Memory

CUT: Final = 10
_HIT_CUT: Final = 5
_NAMES: Final = ("recall_at_10", "hit_at_5", "mrr")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Quality of one question's ranking."""

    recall_at_10: float
    """Share of the evidence among the first ten messages."""
    hit_at_5: float
    """1 if any of the evidence is among the first five."""
    reciprocal_rank: float
    """Reciprocal rank of the first evidence among the first ten; 0 if there is none."""


def ranked_sessions(memories: Iterable[Memory]) -> list[str]:
    """The sessions of memories in their order, each once."""
    return list(dict.fromkeys(each.session for each in memories if each.session is not None))


def ranked_messages(evidence: Iterable[Sequence[str]]) -> list[str]:
    """The message ids of results in their order, each once; the first :data:`CUT`.

    Args:
        evidence: Evidence of each result.
    """
    return list(dict.fromkeys(each for ids in evidence for each in ids))[:CUT]


def messages_by_score(scored: Iterable[tuple[Sequence[str], Sequence[float]]], cut: int = CUT) -> list[str]:
    """The message ids of results by their own scores, best first, each once.

    Args:
        scored: For each result, best first, its evidence and the scores of that.
        cut: Most messages.
    """
    best: dict[str, float] = {}
    for ids, scores in scored:
        for message, score in zip(ids, scores, strict=True):
            best[message] = max(score, best.get(message, score))
    return sorted(best, key=lambda message: -best[message])[:cut]


def outcome_of(messages: Sequence[str], expected: Sequence[str]) -> Outcome:
    """Judges a ranking.

    Args:
        messages: Ids, best first, at most ten.
        expected: The question's evidence, not empty.
    """
    right = set(expected)
    ranks = [rank for rank, each in enumerate(messages, start=1) if each in right]
    return Outcome(
        len(right.intersection(messages)) / len(right), float(any(rank <= _HIT_CUT for rank in ranks)), 1 / ranks[0] if ranks else 0.0
    )


def summary(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """Means, with their intervals (``mrr_interval``)."""
    if not outcomes:
        return {"questions": 0}
    return {"questions": len(outcomes), **named_means(_NAMES, _table(outcomes))}


def differences(outcomes: Sequence[Outcome], others: Sequence[Outcome]) -> dict[str, float]:
    """By measure the mean difference to other outcomes of the same questions, and its standard error (``mrr_error``).

    Args:
        outcomes: At least two.
        others: The values to compare with, in the same order.
    """
    table = _table(outcomes) - _table(others)
    report: dict[str, float] = {}
    for name, mean, spread in zip(_NAMES, table.mean(axis=0), table.std(axis=0, ddof=1), strict=True):
        report[name] = round(float(mean), 4)
        report[f"{name}_error"] = round(float(spread) / math.sqrt(len(table)), 4)
    return report


def _table(outcomes: Sequence[Outcome]) -> NDArray[np.float64]:
    return np.array([[each.recall_at_10, each.hit_at_5, each.reciprocal_rank] for each in outcomes])


def area_under_roc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The chance that a positive scores higher than a negative; ties count half."""
    ranks = np.concatenate([positive, negative])
    order = np.argsort(ranks, kind="stable")
    _, inverse, counts = np.unique(ranks[order], return_inverse=True, return_counts=True)
    mean_ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    by_position = np.empty(len(ranks))
    by_position[order] = mean_ranks
    number = len(positive)
    return float((by_position[:number].sum() - number * (number + 1) / 2) / (number * len(negative)))
