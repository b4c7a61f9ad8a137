from pathlib import Path
from re import findall

from prometheus_client.metrics import MetricWrapperBase

from models.llm.metrics import LLMMetrics
from runtime.metrics import Metrics
from varve.canary.metrics import CanaryMetrics

DOCUMENT = Path(__file__).parents[3] / "docs" / "operations.md"


def test_the_operators_table_names_every_metric() -> None:
    metrics = Metrics()
    LLMMetrics(metrics.registry)
    CanaryMetrics(metrics.registry)
    described = {name: set(filter(None, labels.split(","))) for name, labels in findall(r"`(varve_\w+)(?:\{([\w,]*)\})?`", _table())}
    collectors = list(metrics.registry._collector_to_names)
    own = {
        each._name: set(each._labelnames) for each in collectors if isinstance(each, MetricWrapperBase) and each._name.startswith("varve_")
    }
    assert described == own


def _table() -> str:
    _, _, section = DOCUMENT.read_text().partition("## What to watch")
    return "\n".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))
