"""Logistic regression for the commands that fit models."""

import sys

import numpy as np
import pytest

from retrieval.errors import TrainingError
from retrieval.training.logistic import fit_logistic

RANDOM = np.random.default_rng(3)
FEATURES = RANDOM.standard_normal((400, 3))
LABELS = (RANDOM.random(400) < 1 / (1 + np.exp(-(FEATURES @ [1.0, -2.0, 0.0] + 0.5)))).astype(np.float64)


def gradient(targets: np.ndarray, weights: np.ndarray, ridge: float, intercept: float, coefficients: np.ndarray) -> np.ndarray:
    """The derivative of the loss that the docstring states; 0 at its minimum."""
    errors = weights * (1 / (1 + np.exp(-(FEATURES @ coefficients + intercept))) - targets)
    return np.array([errors.sum(), *(FEATURES.T @ errors + ridge * coefficients)])


@pytest.mark.parametrize("ridge", [0.0, 0.5, 20.0])
@pytest.mark.parametrize("is_soft", [False, True])
def test_the_fit_minimises_the_stated_loss(ridge: float, is_soft: bool) -> None:
    targets = 0.1 + 0.8 * LABELS if is_soft else LABELS
    weights = RANDOM.random(400) + 0.5
    fit = fit_logistic(FEATURES, targets, ridge=ridge, weights=weights)
    assert gradient(targets, weights, ridge, fit.intercept, fit.coefficients) == pytest.approx(np.zeros(4), abs=1e-2)


def test_without_scikit_learn_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(TrainingError, match="extra `fit`"):
        fit_logistic(FEATURES, LABELS, ridge=1.0)
