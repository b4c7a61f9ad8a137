"""The quality of a system's results: one definition for all systems.

A result counts for a message if it contains the message, or if the system derived it from the message and says so. The first ten results
count, whatever number of messages each has; the report also says how many that are, and how long the results are.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evaluation.recall.measures import Outcome, summary

CUT: Final = 10
_HIT_CUT: Final = 5


@dataclass(frozen=True, slots=True)
class Result:
    """A search result as the worker reports it."""

    turn_ids: Sequence[str]
    text: str


def judged(results: Sequence[Result], gold: Collection[str]) -> Outcome:
    """Judges the results of one question.

    Args:
        results: Best first.
        gold: Ids of the messages that answer the question, not empty.
    """
    wanted = set(gold)
    hits = [wanted.intersection(each.turn_ids) for each in results[:CUT]]
    ranks = [rank for rank, each in enumerate(hits, start=1) if each]
    return Outcome(
        recall_at_10=len(set().union(*hits)) / len(wanted),
        hit_at_5=float(any(rank <= _HIT_CUT for rank in ranks)),
        reciprocal_rank=1 / ranks[0] if ranks else 0.0,
    )


def quality(results: Sequence[Sequence[Result]], gold: Sequence[Collection[str]]) -> dict[str, Any]:
    """Means over all questions that have evidence, and the size of the results.

    Args:
        results: The results of each question.
        gold: The evidence of each question. Empty: the conversation does not answer it, so it is not judged.
    """
    outcomes = [judged(each, wanted) for each, wanted in zip(results, gold, strict=True) if wanted]
    shown = [each for of_question in results for each in of_question[:CUT]]
    return {
        **summary(outcomes),
        "results_per_question": _mean(len(each[:CUT]) for each in results),
        "messages_per_result": _mean(len(each.turn_ids) for each in shown),
        "characters_per_result": _mean(len(each.text) for each in shown),
    }


def _mean(numbers: Any) -> float:
    each = list(numbers)
    return round(sum(each) / len(each), 2) if each else 0.0
