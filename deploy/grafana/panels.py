"""Panels and dashboards, and the JSON that Grafana reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

_SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_COLUMNS: Final = 24
_HEIGHT: Final = {"timeseries": 8, "stat": 4}

Kind = Literal["timeseries", "stat"]


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a panel."""

    expr: str
    """In PromQL; ``$__rate_interval`` is Grafana's."""
    legend: str = ""
    """The name of a series, with labels in double braces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One panel."""

    title: str
    unit: str
    """Grafana's id of a unit: ``s``, ``short``, ``reqps``, ``percentunit``."""
    queries: Sequence[Query]
    description: str = ""
    """An explanation of the title."""
    kind: Kind = "timeseries"
    width: int = 12
    """Width, of 24 columns."""
    alarm: float | None = None
    """The value from which it is red."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """One dashboard."""

    name: str
    """Name of its file and of its address."""
    title: str
    panels: Sequence[Panel]

    def queries(self) -> Iterator[tuple[str, str]]:
        """Each query with the title of its panel."""
        for panel in self.panels:
            for query in panel.queries:
                yield panel.title, query.expr

    def json(self) -> dict[str, Any]:
        """The dashboard as Grafana's JSON."""
        return {
            "uid": f"varve-{self.name}",
            "title": f"Varve: {self.title}",
            "tags": ["varve"],
            "schemaVersion": 41,
            "editable": False,
            "refresh": "30s",
            "time": {"from": "now-3h", "to": "now"},
            "templating": {"list": [{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}]},
            "links": [{"type": "dashboards", "tags": ["varve"], "title": "Varve", "asDropdown": False, "keepTime": True}],
            "panels": list(_placed(self.panels)),
        }


def _placed(panels: Sequence[Panel]) -> Iterator[dict[str, Any]]:
    x = y = row_height = 0
    for number, panel in enumerate(panels, start=1):
        if x + panel.width > _COLUMNS:
            x, y, row_height = 0, y + row_height, 0
        height = _HEIGHT[panel.kind]
        row_height = max(row_height, height)
        yield {"id": number, "gridPos": {"x": x, "y": y, "w": panel.width, "h": height}, **_panel(panel)}
        x += panel.width


def _panel(panel: Panel) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"color": "green", "value": None}]
    if panel.alarm is not None:
        steps.append({"color": "red", "value": panel.alarm})
    return {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0, "thresholds": {"mode": "absolute", "steps": steps}}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}}
        if panel.kind == "timeseries"
        else {},
        "targets": [
            {"refId": chr(ord("A") + number), "expr": query.expr, "legendFormat": query.legend, "datasource": _SOURCE}
            for number, query in enumerate(panel.queries)
        ],
    }


def quantiles(histogram: str, by: str) -> list[Query]:
    """The median and the 95th percentile of a histogram, a series for each value of a label."""
    return [
        Query(f"histogram_quantile({q}, sum by ({by}, le) (rate({histogram}_bucket[$__rate_interval])))", f"p{q * 100:.0f} {{{{{by}}}}}")
        for q in (0.5, 0.95)
    ]
