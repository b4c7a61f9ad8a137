"""Means over questions, with their 95 % intervals by resampling the questions (bootstrap percentiles)."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_RESAMPLES: Final = 1000


class Mean(NamedTuple):
    """A mean and its interval, to four digits."""

    value: float
    interval: list[float]
    """Its two ends."""


def means_with_intervals(table: Sequence[Sequence[float]] | NDArray[np.float64]) -> list[Mean]:
    """The mean of each column.

    Args:
        table: Shape ``(questions, measures)``, at least one question.
    """
    values = np.asarray(table, dtype=np.float64)
    random = np.random.default_rng(7)
    means = np.array([values[random.integers(0, len(values), len(values))].mean(axis=0) for _ in range(_RESAMPLES)])
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    ends = zip(values.mean(axis=0), low, high, strict=True)
    return [Mean(round(float(mean), 4), [round(float(first), 4), round(float(last), 4)]) for mean, first, last in ends]


def named_means(names: Sequence[str], table: Sequence[Sequence[float]] | NDArray[np.float64]) -> dict[str, Any]:
    """The mean of each measure under its name, and its interval under ``NAME_interval``.

    Args:
        names: The measures.
        table: See :func:`means_with_intervals`.
    """
    report: dict[str, Any] = {}
    for name, mean in zip(names, means_with_intervals(table), strict=True):
        report |= {name: mean.value, f"{name}_interval": mean.interval}
    return report


def mean_with_interval(values: Sequence[float]) -> Mean:
    """The mean of one measure.

    Args:
        values: Values of each question, at least one.
    """
    return means_with_intervals([[each] for each in values])[0]
