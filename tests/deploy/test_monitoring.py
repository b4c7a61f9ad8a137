"""Rules, dashboards and runbooks, as far as plain Python can check them."""

import re
from pathlib import Path

import yaml
from prometheus_client import Counter, Histogram
from prometheus_client.metrics import MetricWrapperBase

from deploy.grafana.boards import DASHBOARDS
from models.llm.telemetry import LLMMetrics
from runtime.metrics import Metrics
from varve.canary.run import CanaryMetrics

ROOT = Path(__file__).parents[2]
RULES = [
    rule
    for path in (ROOT / "deploy" / "prometheus" / "rules").glob("*.yaml")
    for rule in yaml.safe_load(path.read_text())["groups"][0]["rules"]
]
ALERTS = {rule["alert"]: rule for rule in RULES if "alert" in rule}
RECORDED = {rule["record"]: rule["expr"] for rule in RULES if "record" in rule}
PAGES = {path.stem: path.read_text() for path in (ROOT / "docs" / "operate" / "runbooks").glob("Varve*.md")}
QUERIES = [expr for board in DASHBOARDS for _, expr in board.queries()]
OURS = re.compile(r"\b(?:\w+:)?varve_\w+(?::\w+)?|\bvarve:\w+:\w+")


def series() -> dict[str, set[str]]:
    """Every series of Varve's own that a process may show, with its labels."""
    metrics = Metrics()
    LLMMetrics(metrics.registry)
    CanaryMetrics(metrics.registry)
    shown: dict[str, set[str]] = {}
    for each in metrics.registry._collector_to_names:
        if isinstance(each, MetricWrapperBase):
            endings = ("_total",) if isinstance(each, Counter) else ("_bucket", "_sum", "_count") if isinstance(each, Histogram) else ("",)
            shown |= {each._name + ending: {*each._labelnames, *(["le"] if ending == "_bucket" else [])} for ending in endings}
    return shown


SERIES = series()


def test_alerts_and_pages_go_together() -> None:
    assert PAGES.keys() == ALERTS.keys()
    for name, rule in ALERTS.items():
        assert rule["annotations"]["runbook"] == f"docs/operate/runbooks/{name}.md"
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert PAGES[name].startswith(f"# {name}\n\n")
        assert re.findall(r"^## .*", PAGES[name], re.MULTILINE) == ["## Look", "## Do"]


def test_the_monitoring_page_names_existing_metrics() -> None:
    page = (ROOT / "docs" / "operate" / "monitor.md").read_text()
    for name, labels in re.findall(r"`(varve_\w+)(?:\{([^}]*)\})?`", page):
        shown = name if name in SERIES else f"{name}_count"
        assert name.startswith("varve_tenant_") or shown in SERIES, name
        assert {label.partition("=")[0] for label in labels.split(",") if label} <= SERIES.get(shown, set()), name
    assert set(re.findall(r"`(Varve\w+)`", page)) <= ALERTS.keys()


def test_every_alert_is_tried() -> None:
    tried = {each["name"] for each in yaml.safe_load((ROOT / "deploy" / "prometheus" / "tests" / "alerts.yaml").read_text())["tests"]}
    assert ALERTS.keys() <= tried


def test_rules_and_panels_query_only_existing_metrics() -> None:
    asked = {name for expr in [*QUERIES, *(rule["expr"] for rule in RULES)] for name in OURS.findall(expr)}
    assert asked - SERIES.keys() - RECORDED.keys() == set()
    assert len(asked & SERIES.keys()) > 20


def test_queried_labels_exist_on_their_metrics() -> None:
    of_the_target = {"job", "component", "instance"}
    for expr in [*QUERIES, *RECORDED.values(), *(rule["expr"] for rule in RULES)]:
        for name, selector in re.findall(r"\b(varve_\w+)\{([^}]*)\}", expr):
            labels = set(re.findall(r'(\w+)\s*(?:=|!=|=~|!~)\s*"', selector))
            assert labels <= SERIES[name] | of_the_target, expr


def test_every_recorded_series_is_queried() -> None:
    asked = " ".join([*QUERIES, *(rule["expr"] for rule in ALERTS.values())])
    assert [name for name in RECORDED if name not in asked] == []


def test_pages_name_only_existing_metrics() -> None:
    sources = [
        path
        for package in ("api", "streams", "stores", "control", "runtime", "memory", "models", "extraction", "retrieval", "varve")
        for path in (ROOT / package).rglob("*.py")
    ]
    words = set(re.findall(r"\w+", "\n".join(path.read_text() for path in sources)))
    for name, page in PAGES.items():
        metrics = {each for each in OURS.findall(page) if each not in RECORDED}
        assert {each for each in metrics if each not in SERIES and f"{each}_bucket" not in SERIES} == set(), name
        events = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", page)) - metrics
        assert events - words == set(), name
        settings = set(re.findall(r"\bVARVE_[A-Z_]+", page))
        assert settings <= set(re.findall(r"\bVARVE_[A-Z_]+", (ROOT / "docs" / "reference" / "settings.md").read_text())), name


def test_the_four_dashboards_have_distinct_ids() -> None:
    assert [board.name for board in DASHBOARDS] == ["overview", "stages", "llm", "recall"]
    for board in DASHBOARDS:
        titles = [panel.title for panel in board.panels]
        assert len(set(titles)) == len(titles)
        for panel in board.json()["panels"]:
            place = panel["gridPos"]
            assert place["x"] + place["w"] <= 24
