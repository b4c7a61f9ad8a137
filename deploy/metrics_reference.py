"""``docs/reference/metrics.md``: every metric, from its own definition."""

from collections.abc import Iterator
from typing import Final

from prometheus_client.metrics import MetricWrapperBase

from models.llm.metrics import LLMMetrics
from runtime.metrics import Metrics
from varve.canary.metrics import CanaryMetrics

_HEAD: Final = """# Metrics

Generated from the code by `make generated`. How to read them, and which alerts use them: [monitor](../operate/monitor.md).
In Prometheus, the name of a counter ends in `_total`, and a histogram has the series `_bucket`, `_sum` and `_count`.

| metric | type | labels | meaning |
|---|---|---|---|
"""


def metrics_markdown() -> str:
    """The page's text."""
    return _HEAD + "\n".join(sorted(_rows())) + "\n"


def _rows() -> Iterator[str]:
    metrics = Metrics()
    LLMMetrics(metrics.registry)
    CanaryMetrics(metrics.registry)
    # The registry reports a metric's labels only once a sample has them.
    for each in list(metrics.registry._collector_to_names):  # noqa: SLF001
        if isinstance(each, MetricWrapperBase):
            for family in each.describe():
                labels = ", ".join(f"`{label}`" for label in each._labelnames)  # noqa: SLF001
                yield f"| `{family.name}` | {family.type} | {labels} | {family.documentation} |"
