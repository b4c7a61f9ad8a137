"""Fits a ranking model to judged candidates.

The weights minimise, over all queries with evidence among their candidates, the negative logarithm of the softmax over the candidates
at each evidence, divided by the root of their number (ListNet's top-one loss, Cao et al. 2007, 4.2, for several right answers), with an L2
penalty on the weights of standardised features, or on their distance to a model's. Slope and intercept are fitted afterwards (Platt 1999).
scikit-learn has no listwise loss, so the weights are minimised with SciPy, which comes with it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from retrieval.errors import TrainingError
from retrieval.rankers.fitted_models import RankingModel
from retrieval.relevance.feature_vector import FeatureVector
from retrieval.relevance.features import FEATURES, NEVER_AGAINST
from retrieval.training.logistic import fit_logistic
from runtime.errors import missing_extra


class Judged(Protocol):
    """One query with its candidates."""

    @property
    def features(self) -> Mapping[str, FeatureVector]:
        """By name in :data:`~retrieval.relevance.features.FEATURES`, a number for each candidate."""
        ...

    @property
    def is_evidence(self) -> FeatureVector:
        """1 for a candidate that answers the query, else 0."""
        ...


def fitted(
    judged: Sequence[Judged],
    *,
    ridge: float,
    but: str = "",
    without: Collection[str] = (),
    importance: Sequence[float] | FeatureVector | None = None,
    around: Mapping[str, float] | None = None,
    smoothing: float = 0.0,
) -> RankingModel:
    """Fits a model.

    If a weight of :data:`~retrieval.relevance.features.NEVER_AGAINST` is negative, it is set to 0 and the others are fitted again.

    Args:
        judged: At least one query with evidence among its candidates; queries without are skipped.
        ridge: Strength of the L2 penalty on the weights of standardised features.
        but: A feature that the model has no weight for. Empty: none.
        without: Features whose weights are 0.
        importance: The weight of each query in the loss. None: 1.
        around: The weights, by feature, that the penalty draws to. None: 0.
        smoothing: Number of additional candidates, half of them right. With 1 (Platt 1999, 2.2) the slope stays finite even if few
            candidates are separated without an error.

    Raises:
        TrainingError: If scikit-learn is not installed.
    """
    has_evidence = [bool(each.is_evidence.any()) for each in judged]
    usable = [each for each, is_usable in zip(judged, has_evidence, strict=True) if is_usable]
    counts = np.ones(len(usable)) if importance is None else np.asarray(importance, dtype=np.float64)[has_evidence]
    held = {but, *without}
    while True:
        names = tuple(name for name in FEATURES if name not in held)
        model = _fitted_to(usable, names, counts, ridge=ridge, around=around, smoothing=smoothing)
        against = {name for name in NEVER_AGAINST.intersection(names) if model.weights[name] < 0}
        if not against:
            return replace(model, weights={name: model.weights.get(name, 0.0) for name in FEATURES if name != but})
        held |= against


def _fitted_to(
    usable: Sequence[Judged],
    names: Sequence[str],
    counts: FeatureVector,
    *,
    ridge: float,
    around: Mapping[str, float] | None,
    smoothing: float,
) -> RankingModel:
    tables = [np.column_stack([each.features[name] for name in names]) for each in usable]
    spread = np.vstack(tables).std(axis=0)
    spread[spread == 0] = 1.0
    centre = np.zeros(len(names)) if around is None else np.array([around[name] for name in names]) * spread
    groups = [(table / spread, each.is_evidence) for table, each in zip(tables, usable, strict=True)]
    weights = _fit_weights(groups, counts.tolist(), ridge, centre)
    slope, intercept = _fit_sigmoid(
        np.concatenate([table @ weights for table, _ in groups]), np.concatenate([right for _, right in groups]), smoothing
    )
    return RankingModel(weights=dict(zip(names, (weights / spread).tolist(), strict=True)), slope=slope, intercept=intercept)


def _fit_weights(
    groups: Sequence[tuple[FeatureVector, FeatureVector]], counts: Sequence[float], ridge: float, centre: FeatureVector
) -> FeatureVector:
    try:
        from scipy.optimize import minimize
    except ImportError as error:
        raise TrainingError(f"{missing_extra('fitting a model', 'fit')} ({error})") from error

    def loss(weights: FeatureVector) -> tuple[float, FeatureVector]:
        total, gradient = ridge / 2 * float((weights - centre) @ (weights - centre)), ridge * (weights - centre)
        for (table, right), count in zip(groups, counts, strict=True):
            scores, root = table @ weights, float(np.sqrt(right.sum()))
            share = _softmax(scores)
            total -= count * float(right @ np.log(share + 1e-300)) / root
            gradient = gradient + count * (root * (share @ table) - (right @ table) / root)
        return total, gradient

    return np.asarray(minimize(loss, centre, jac=True, method="BFGS", options={"gtol": 1e-4}).x)


def _softmax(scores: FeatureVector) -> FeatureVector:
    exponentials = np.exp(scores - scores.max())
    return np.asarray(exponentials / exponentials.sum())


def _fit_sigmoid(scores: FeatureVector, right: FeatureVector, smoothing: float) -> tuple[float, float]:
    """Slope and intercept of the probability that a candidate with a score is evidence: logistic regression of one variable."""
    number, wanted = len(right), float(right.sum())
    targets = np.where(right > 0, _smoothed(wanted, smoothing), 1 - _smoothed(number - wanted, smoothing))
    # Centred and scaled, the fit converges fast. Equal scores have the slope 0.
    mean, spread = float(scores.mean()), float(scores.std()) or 1.0
    fit = fit_logistic(((scores - mean) / spread)[:, np.newaxis], targets, ridge=0.0)
    slope = float(fit.coefficients[0]) / spread
    return slope, fit.intercept - slope * mean


def _smoothed(number: float, smoothing: float) -> float:
    return (number + smoothing) / (number + 2 * smoothing) if number else 1.0
