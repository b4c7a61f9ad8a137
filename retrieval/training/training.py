"""Fits a ranking to recalls with feedback, and measures it on recalls that it was not fitted to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from retrieval.errors import TrainingError
from retrieval.rankers.fitted_models import LEARNED, RankingModel
from retrieval.rankers.learned import linear_scores
from retrieval.relevance.feature_vector import FeatureVector
from retrieval.relevance.features import FEATURES
from retrieval.training.fitting import fitted
from retrieval.training.judged import JudgedRecall, JudgedRecalls

LEAST_QUESTIONS: Final = 50
"""Different questions that a fit needs, about four for each weight."""
FOLDS: Final = 5
RIDGE: Final = 10.0
_SMOOTHING: Final = 1.0
_LEAST_SLOPE: Final = 1e-3
"""Smallest slope of the sigmoid. With a smaller one, all memories are about equally likely to be useful."""


class Figures(NamedTuple):
    """Quality of a ranking of the candidates with feedback; means over recalls, in [0, 1]."""

    pairs: float
    """Share of the pairs of a useful and a useless memory with the useful one first. Ties count half."""
    useful_first: float
    """1 if the first candidate with feedback is useful."""
    reciprocal_rank: float
    """Reciprocal rank of the first useful candidate among those with feedback."""


class Difference(NamedTuple):
    """Mean difference between two rankings, over recalls."""

    mean: float
    standard_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A fitted model and its quality."""

    model: RankingModel
    """The model, fitted to all recalls."""
    recalls: int
    questions: int
    """Number of different questions."""
    judged: int
    """Number of candidates with feedback."""
    left_out: Figures
    """Cross-validated quality: models that were fitted without the fifth of the questions that they are measured on."""
    shipped: Figures
    """Quality of the shipped model."""
    as_ranked: Figures
    """Quality of the recalls' own order."""
    gain: Difference
    """Difference of ``pairs`` between ``left_out`` and ``shipped``."""


def train(judged: JudgedRecalls, *, ridge: float = RIDGE) -> Training:
    """Fits a model. Weights that the recalls do not determine stay near the shipped ones.

    Args:
        judged: The recalls.
        ridge: Strength of the penalty that draws to the shipped weights.

    Raises:
        TrainingError: If there are fewer questions, the feedback does not depend on the features, or scikit-learn is not installed.
    """
    recalls = judged.recalls
    if judged.questions < LEAST_QUESTIONS:
        raise TrainingError(
            f"too few recalls to fit a ranking: {len(recalls)} recalls that ask {judged.questions} different questions have a recorded "
            f"ranking and feedback on both useful and useless memories; a fit needs {LEAST_QUESTIONS} questions"
        )
    left_out: list[FeatureVector] = [np.zeros(0)] * len(recalls)
    for fold in folds(recalls):
        held = {*fold}
        model = _fitted([each for index, each in enumerate(recalls) if index not in held], ridge)
        for index in fold:
            left_out[index] = linear_scores(model.weights, recalls[index].features)
    model = _fitted(recalls, ridge)
    if model.slope < _LEAST_SLOPE:
        raise TrainingError("no ranking can be fitted: the feedback does not depend on the features of the memories")
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
    """The indexes of the recalls in :data:`FOLDS` parts. Recalls with the same question are in one part."""
    numbers = {question: number for number, question in enumerate(dict.fromkeys(each.question for each in recalls))}
    parts: list[list[int]] = [[] for _ in range(FOLDS)]
    for index, each in enumerate(recalls):
        parts[numbers[each.question] % FOLDS].append(index)
    return [each for each in parts if each]


def figures_of(scores: FeatureVector, recall: JudgedRecall) -> Figures:
    """The quality of an order of a recall's candidates.

    Args:
        scores: Higher is better. Among equal scores, useless candidates count as first.
        recall: Contains at least one useful and one useless candidate.
    """
    right = recall.is_evidence > 0
    ahead = scores[right][:, np.newaxis] - scores[~right]
    first = int((scores[~right] >= scores[right].max()).sum()) + 1
    return Figures(float(((ahead > 0) + (ahead == 0) / 2).mean()), float(first == 1), 1 / first)


def mean_of(figures: Sequence[Figures]) -> Figures:
    """Means over recalls."""
    return Figures(*np.array(figures).mean(axis=0).tolist())


def rounded(model: RankingModel) -> RankingModel:
    """The model with four decimals, like the shipped one."""
    weights: Mapping[str, float] = {name: round(model.weights[name], 4) for name in FEATURES}
    return RankingModel(weights=weights, slope=round(model.slope, 4), intercept=round(model.intercept, 4))


def _fitted(recalls: Sequence[JudgedRecall], ridge: float) -> RankingModel:
    return fitted(recalls, ridge=ridge, around=LEARNED.weights, smoothing=_SMOOTHING)


def _difference(one: Sequence[float], other: Sequence[float]) -> Difference:
    differences = np.array(one) - np.array(other)
    return Difference(float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(len(differences))))
