"""Plots of a run's metrics as SVG."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.compare.plots import Chart
from training.runs import Run


def write_curves(run: Run, name: str, *, title: str, x: str, names: Sequence[str], step: str) -> None:
    """Plots metrics of a step, one line per metric. Lines without the metric of the x axis are left out.

    Args:
        run: The run.
        name: The file.
        title: The title.
        x: The metric of the x axis.
        names: Metrics to plot.
        step: The step.
    """
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for line in run.metrics(step):
        for metric in names:
            if isinstance(line.get(metric), int | float) and isinstance(line.get(x), int | float):
                found[metric].append((line[x], line[metric]))
    run.write_text(name, Chart(title=title, x=x, y="", series={metric: sorted(points) for metric, points in found.items()}).svg())


def write_bars(run: Run, name: str, *, title: str, figures: Mapping[str, Mapping[str, Any]], measures: Sequence[str]) -> None:
    """Plots figures of methods, one series per measure, one place per method.

    Args:
        run: The run.
        name: The file.
        title: The title.
        figures: By method, its measures.
        measures: The measures to plot.
    """
    series = {measure: [(place, each[measure]) for place, each in enumerate(figures.values())] for measure in measures}
    run.write_text(name, Chart(title=title, x="", y="", series=series, has_lines=False, names=list(figures)).svg())
