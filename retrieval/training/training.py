"""Fits a ranking to judged recalls, and measures it on recalls that it was not fitted to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from retrieval.errors import TrainingError
from retrieval.feature_vector import FeatureVector
from retrieval.features import FEATURES
from retrieval.ranking_model import LEARNED, RankingModel, linear_scores
from retrieval.training.fitting import fitted
from retrieval.training.judged import JudgedRecall, JudgedRecalls

LEAST_QUESTIONS: Final = 50
"""Different questions that it takes: four for each weight, about."""
FOLDS: Final = 5
RIDGE: Final = 10.0
_SMOOTHING: Final = 1.0
_LEAST_SLOPE: Final = 1e-3
"""Of the sigmoid behind the weights: below, all memories are about as likely to be of use."""


class Figures(NamedTuple):
    """How well a ranking orders what was judged, as means over recalls, all in [0, 1]."""

    pairs: float
    """Of the pairs of a useful and a useless memory, the share with the useful one in front; ties count half."""
    useful_first: float
    """1 where the best of the judged is useful."""
    reciprocal_rank: float
    """Of the first useful one among the judged."""


class Difference(NamedTuple):
    """By how much one ranking's figure is above another's, recall by recall."""

    mean: float
    standard_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A fitted model, and what is known of it."""

    model: RankingModel
    """Fitted to all."""
    recalls: int
    questions: int
    """Different ones among them."""
    judged: int
    """Memories that were judged."""
    left_out: Figures
    """Of models that were fitted without the recalls that they are measured on: those of a question together, a fifth of all in turn."""
    shipped: Figures
    """Of the model that ships."""
    as_ranked: Figures
    """Of the order in which the recalls themselves ranked."""
    gain: Difference
    """Of ``pairs``, left out, over the shipped model's."""


def train(judged: JudgedRecalls, *, ridge: float = RIDGE, least: int = LEAST_QUESTIONS) -> Training:
    """Fits a model that stays near the shipped one where the recalls say nothing else.

    Args:
        judged: The recalls.
        ridge: How strongly it is drawn to the shipped weights.
        least: Different questions that it takes.

    Raises:
        TrainingError: If there are fewer, or what was called useful does not hang on the features.
    """
    recalls = judged.recalls
    if judged.questions < least:
        raise TrainingError(
            f"there is too little to fit a ranking to: {len(recalls)} recalls that ask {judged.questions} different questions have their "
            f"ranking kept and both useful and useless memories named, and it takes {least} questions"
        )
    left_out: list[FeatureVector] = [np.zeros(0)] * len(recalls)
    for fold in folds(recalls):
        held = {*fold}
        model = _fitted([each for index, each in enumerate(recalls) if index not in held], ridge)
        for index in fold:
            left_out[index] = linear_scores(model.weights, recalls[index].features)
    model = _fitted(recalls, ridge)
    if model.slope < _LEAST_SLOPE:
        raise TrainingError("no ranking can be fitted: what was called useful does not hang on what a ranking looks at")
    by_fitted = [figures_of(scores, each) for scores, each in zip(left_out, recalls, strict=True)]
    by_shipped = [figures_of(linear_scores(LEARNED.weights, each.features), each) for each in recalls]
    return Training(
        model=model,
        recalls=len(recalls),
        questions=judged.questions,
        judged=sum(len(each.is_evidence) for each in recalls),
        left_out=mean_of(by_fitted),
        shipped=mean_of(by_shipped),
        as_ranked=mean_of([figures_of(-each.ranks, each) for each in recalls]),
        gain=_difference([each.pairs for each in by_fitted], [each.pairs for each in by_shipped]),
    )


def folds(recalls: Sequence[JudgedRecall]) -> list[list[int]]:
    """The places of the recalls in :data:`FOLDS` parts, those that ask the same in one of them."""
    numbers = {question: number for number, question in enumerate(dict.fromkeys(each.question for each in recalls))}
    parts: list[list[int]] = [[] for _ in range(FOLDS)]
    for index, each in enumerate(recalls):
        parts[numbers[each.question] % FOLDS].append(index)
    return [each for each in parts if each]


def figures_of(scores: FeatureVector, recall: JudgedRecall) -> Figures:
    """How well scores order a recall's judged memories.

    Args:
        scores: The higher, the further in front; of equal ones the useless memories stand in front.
        recall: With a useful and a useless memory at least.
    """
    right = recall.is_evidence > 0
    ahead = scores[right][:, np.newaxis] - scores[~right]
    first = int((scores[~right] >= scores[right].max()).sum()) + 1
    return Figures(float(((ahead > 0) + (ahead == 0) / 2).mean()), float(first == 1), 1 / first)


def mean_of(figures: Sequence[Figures]) -> Figures:
    """The means over recalls."""
    return Figures(*np.array(figures).mean(axis=0).tolist())


def rounded(model: RankingModel) -> RankingModel:
    """The model with four decimals, as the shipped one has them."""
    weights: Mapping[str, float] = {name: round(model.weights[name], 4) for name in FEATURES}
    return RankingModel(weights=weights, slope=round(model.slope, 4), intercept=round(model.intercept, 4))


def _fitted(recalls: Sequence[JudgedRecall], ridge: float) -> RankingModel:
    return fitted(recalls, ridge=ridge, around=LEARNED.weights, smoothing=_SMOOTHING)


def _difference(one: Sequence[float], other: Sequence[float]) -> Difference:
    differences = np.array(one) - np.array(other)
    return Difference(float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(len(differences))))
