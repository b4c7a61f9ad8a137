"""Logistic regression with scikit-learn, for the commands that fit a model. Varve itself only computes the fitted models' dot products."""

from typing import NamedTuple

import numpy as np

from retrieval.errors import TrainingError
from retrieval.relevance.feature_vector import FeatureVector
from runtime.errors import missing_extra


class LogisticFit(NamedTuple):
    """``probability = sigmoid(coefficients . features + intercept)``."""

    coefficients: FeatureVector
    intercept: float


def fit_logistic(features: FeatureVector, targets: FeatureVector, *, ridge: float, weights: FeatureVector | None = None) -> LogisticFit:
    """Minimises the log loss plus ``ridge / 2`` times the squared coefficients. The intercept has no penalty.

    Args:
        features: A row for each example.
        targets: The probability of each example, in [0, 1].
        ridge: Strength of the penalty. 0: none.
        weights: The weight of each example. None: 1.

    Raises:
        TrainingError: If scikit-learn is not installed.
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise TrainingError(f"{missing_extra('fitting a model', 'fit')} ({error})") from error
    weight = np.ones(len(targets)) if weights is None else weights
    # scikit-learn takes classes: an example with a probability counts as both, each with its share of the weight.
    shares = np.concatenate([weight * targets, weight * (1 - targets)])
    rows = np.flatnonzero(shares)
    classes = np.concatenate([np.ones(len(targets)), np.zeros(len(targets))])
    model = LogisticRegression(C=1 / ridge if ridge else np.inf, solver="lbfgs", tol=1e-9, max_iter=10_000)
    model.fit(np.vstack([features, features])[rows], classes[rows], sample_weight=shares[rows])
    return LogisticFit(np.asarray(model.coef_[0], dtype=np.float64), float(model.intercept_[0]))
