"""How well a recall separates questions that the memory answers from others, and the effect of thresholds."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from evaluation.recall.measures import area_under_roc
from retrieval.relevance.thresholds import THRESHOLDS
from retrieval.request import RecallResponse
from runtime.settings import RankingProfile

_FALSE_REJECTIONS: Final = (0.02, 0.05, 0.1, 0.2)

Absent = Mapping[str, Sequence[float]]
"""By kind of question that the memory does not answer, the number of each."""


def rejection(answered: Sequence[float], absent: Absent) -> dict[str, Any]:
    """``auroc`` by kind of question, and ``thresholds``: for some shares of answered questions the ``least`` number that rejects so many.

    Args:
        answered: Values of each question that the memory answers.
        absent: Values of the others. A kind without questions is left out.
    """
    absent = {kind: numbers for kind, numbers in absent.items() if numbers}
    if not answered or not absent:
        return {"questions": 0}
    return {
        "questions": len(answered) + sum(map(len, absent.values())),
        "auroc": {kind: round(area_under_roc(answered, numbers), 4) for kind, numbers in absent.items()},
        "thresholds": [at_threshold(answered, absent, float(np.quantile(answered, share))) for share in _FALSE_REJECTIONS],
    }


def at_threshold(answered: Sequence[float], absent: Absent, least: float) -> dict[str, Any]:
    """The share of answered questions that a threshold rejects, and the share that it answers of the others, by their kind.

    Args:
        answered: Values of each question that the memory answers; at least one.
        absent: Values of the others; of each kind at least one.
        least: The threshold; lower values are rejected.
    """
    return {
        "least": round(least, 4),
        "false_rejections": round(float(np.mean(np.asarray(answered) < least)), 4),
        "false_answers": {kind: round(float(np.mean(np.asarray(numbers) >= least)), 4) for kind, numbers in absent.items()},
    }


def profile_rejection(
    profile: RankingProfile, answered: Sequence[RecallResponse], absent: Mapping[str, Sequence[RecallResponse]]
) -> dict[str, Any]:
    """:func:`rejection` by each number that a user of a profile can set a least of.

    Args:
        profile: How the results are ranked.
        answered: The answers to questions that the memory answers, explained and with their confidence.
        absent: By kind of other question, the answers to these.

    Returns:
        ``min_confidence``; of `weighted` also ``min_origin_score``, which does the same under every profile; of the others the best
        result's ``score``. Of `learned` also ``at_thresholds``: what those that ship do.
    """
    report: dict[str, Any] = {}
    for name, number in _NUMBERS[profile].items():
        report[name] = rejection(list(map(number, answered)), {kind: list(map(number, answers)) for kind, answers in absent.items()})
    if profile == "learned" and report["min_confidence"]["questions"]:
        sure = list(map(_confidence, answered))
        others = {kind: list(map(_confidence, answers)) for kind, answers in absent.items() if answers}
        report["at_thresholds"] = [at_threshold(sure, others, each.confidence) for each in THRESHOLDS]
    return report


def _confidence(answer: RecallResponse) -> float:
    """0 where the profile itself has rejected everything."""
    return answer.confidence or 0.0 if answer.hits else 0.0


def _best_score(answer: RecallResponse) -> float:
    return answer.hits[0].score if answer.hits else 0.0


def _best_origin_score(answer: RecallResponse) -> float:
    """The store's score, without the time prior, which is added after the threshold."""
    return max((hit.parts["origin"] - hit.parts.get("prior_time", 0.0) for hit in answer.hits), default=0.0)


_NUMBERS: Final[Mapping[RankingProfile, Mapping[str, Callable[[RecallResponse], float]]]] = MappingProxyType(
    {
        "learned": {"min_confidence": _confidence, "score": _best_score},
        "weighted": {"min_confidence": _confidence, "min_origin_score": _best_origin_score},
        "memx": {"min_confidence": _confidence, "score": _best_score},
    }
)
