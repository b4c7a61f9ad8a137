"""Fits a ranking model to judged candidates.

The weights minimise, over all queries with evidence among their candidates, the negative logarithm of the softmax over the candidates
at each evidence, divided by the root of their number (ListNet's top-one loss, Cao et al. 2007, 4.2, for several right answers), with an L2
penalty on the weights of standardised features, or on how far they are from a model's. Slope and intercept are fitted behind them (Platt
1999).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

import numpy as np

from retrieval.feature_vector import FeatureVector
from retrieval.features import FEATURES, NEVER_AGAINST
from retrieval.ranking_model import RankingModel

_MAX_STEPS: Final = 50
_TOLERANCE: Final = 1e-5
_SMALLEST_STEP: Final = 1e-4
_NEARLY_NOTHING: Final = 1e-9


class Judged(Protocol):
    """One query with its candidates."""

    @property
    def features(self) -> Mapping[str, FeatureVector]:
        """By the names in :data:`~retrieval.features.FEATURES`, a number for each candidate."""
        ...

    @property
    def is_evidence(self) -> FeatureVector:
        """1 for a candidate that is right, 0 for any other."""
        ...


def fitted(
    judged: Sequence[Judged], *, ridge: float, but: str = "", around: Mapping[str, float] | None = None, smoothing: float = 0.0
) -> RankingModel:
    """Fits a model by Newton's method with halved steps.

    Where a weight of :data:`~retrieval.features.NEVER_AGAINST` comes out negative, it is held at 0 and the others are fitted anew.

    Args:
        judged: At least one with evidence among its candidates; those without are left out.
        ridge: Strength of the L2 penalty on the weights of standardised features.
        but: A feature that the model does without; empty: it has all.
        around: The weights, by feature, that the penalty draws to; None: 0.
        smoothing: Candidates that are taken to be as likely right as wrong, beside those there are: with 1 (Platt 1999, 2.2), a slope is
            finite also where few candidates are told apart without a fault.
    """
    usable = [each for each in judged if each.is_evidence.any()]
    held = {but}
    while True:
        names = tuple(name for name in FEATURES if name not in held)
        model = _fitted_to(usable, names, ridge=ridge, around=around, smoothing=smoothing)
        against = {name for name in NEVER_AGAINST.intersection(names) if model.weights[name] < 0}
        if not against:
            return replace(model, weights={name: model.weights.get(name, 0.0) for name in FEATURES if name != but})
        held |= against


def _fitted_to(
    usable: Sequence[Judged], names: Sequence[str], *, ridge: float, around: Mapping[str, float] | None, smoothing: float
) -> RankingModel:
    tables = [np.column_stack([each.features[name] for name in names]) for each in usable]
    spread = np.vstack(tables).std(axis=0)
    spread[spread == 0] = 1.0
    centre = np.zeros(len(names)) if around is None else np.array([around[name] for name in names]) * spread
    groups = [(table / spread, each.is_evidence) for table, each in zip(tables, usable, strict=True)]
    weights = _fit_weights(groups, ridge, centre)
    slope, intercept = _fit_sigmoid(
        np.concatenate([table @ weights for table, _ in groups]), np.concatenate([right for _, right in groups]), smoothing
    )
    return RankingModel(weights=dict(zip(names, (weights / spread).tolist(), strict=True)), slope=slope, intercept=intercept)


def _fit_weights(groups: Sequence[tuple[FeatureVector, FeatureVector]], ridge: float, centre: FeatureVector) -> FeatureVector:
    weights = centre.copy()
    loss = _loss(groups, weights, ridge, centre)
    for _ in range(_MAX_STEPS):
        gradient, hessian = ridge * (weights - centre), ridge * np.eye(len(weights))
        for table, right in groups:
            share = _softmax(table @ weights)
            mean, root = share @ table, float(np.sqrt(right.sum()))
            gradient = gradient + root * mean - (right @ table) / root
            centred = table - mean
            hessian = hessian + root * (centred.T * share) @ centred
        step, size = np.linalg.solve(hessian, gradient), 1.0
        while (smaller := _loss(groups, weights - size * step, ridge, centre)) >= loss and size > _SMALLEST_STEP:
            size /= 2
        if loss - smaller < _TOLERANCE:
            break
        weights, loss = weights - size * step, smaller
    return np.asarray(weights)


def _loss(groups: Sequence[tuple[FeatureVector, FeatureVector]], weights: FeatureVector, ridge: float, centre: FeatureVector) -> float:
    away = weights - centre
    total = ridge / 2 * float(away @ away)
    for table, right in groups:
        total -= float(right @ np.log(_softmax(table @ weights) + 1e-300)) / float(np.sqrt(right.sum()))
    return total


def _softmax(scores: FeatureVector) -> FeatureVector:
    exponentials = np.exp(scores - scores.max())
    return np.asarray(exponentials / exponentials.sum())


def _fit_sigmoid(scores: FeatureVector, right: FeatureVector, smoothing: float) -> tuple[float, float]:
    """Slope and intercept of the probability that a candidate of a score is evidence: logistic regression of one variable."""
    number, wanted = len(right), float(right.sum())
    targets = np.where(right > 0, _smoothed(wanted, smoothing), 1 - _smoothed(number - wanted, smoothing))
    design = np.column_stack([scores, np.ones(number)])
    coefficients = np.zeros(2)
    loss = _log_loss(design @ coefficients, targets)
    for _ in range(_MAX_STEPS):
        predicted = np.exp(-np.logaddexp(0, -design @ coefficients))
        # The last term keeps it solvable where all scores are alike; where the loss is least it says nothing.
        hessian = (design.T * (predicted * (1 - predicted))) @ design + _NEARLY_NOTHING * np.eye(2)
        step, size = np.linalg.solve(hessian, design.T @ (predicted - targets)), 1.0
        while (smaller := _log_loss(design @ (coefficients - size * step), targets)) > loss and size > _SMALLEST_STEP:
            size /= 2
        if smaller > loss:
            break
        coefficients, loss = coefficients - size * step, smaller
        if np.abs(size * step).max() < _TOLERANCE:
            break
    return float(coefficients[0]), float(coefficients[1])


def _log_loss(linear: FeatureVector, targets: FeatureVector) -> float:
    return float((np.logaddexp(0, linear) - targets * linear).sum())


def _smoothed(number: float, smoothing: float) -> float:
    return (number + smoothing) / (number + 2 * smoothing) if number else 1.0
