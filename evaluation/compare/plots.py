"""The plots of a comparison as SVG: points and lines, without a library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import cycle
from typing import Any, Final

from evaluation.compare.variants import PLACES

_WIDTH: Final = 820
_HEIGHT: Final = 440
_LEFT: Final = 70
_RIGHT: Final = 170
_TOP: Final = 40
_BOTTOM: Final = 60
_TICKS: Final = 5
_LEGEND_LINE: Final = 18
_COLORS: Final = (
    "#1f77b4",
    "#ff7f0e",
    "#2ca02c",
    "#d62728",
    "#9467bd",
    "#8c564b",
    "#e377c2",
    "#7f7f7f",
    "#bcbd22",
    "#17becf",
    "#000000",
    "#aec7e8",
)

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart with one series of points per method."""

    title: str
    x: str
    y: str
    series: Mapping[str, Points]
    has_lines: bool = True
    names: Sequence[str] = ()
    """Names of the places 0, 1 and so on of the x axis. Empty: it has numbers."""

    def svg(self) -> str:
        """The chart as an SVG. Axes begin at 0, the y axis at the lowest value if that is negative."""
        points = [each for one in self.series.values() for each in one]
        right = max((x for x, _ in points), default=0) or 1
        top = max((y for _, y in points), default=0) or 1
        span = (min((0.0, *(y for _, y in points))), max(top, 0.0))
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" font-size="12">',
            f"<title>{escape(self.title)}</title>",
            f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
            _text(_LEFT, _TOP - 18, self.title, size=14),
            f'<path d="M{_LEFT} {_TOP}V{_HEIGHT - _BOTTOM}H{_WIDTH - _RIGHT}" fill="none" stroke="black"/>',
            _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 16, self.x, anchor="middle"),
            f'<g transform="rotate(-90 18 {_HEIGHT / 2:.0f})">{_text(18, _HEIGHT / 2, self.y, anchor="middle")}</g>',
        ]
        for tick in range(_TICKS + 1):
            value = span[0] + (span[1] - span[0]) * tick / _TICKS
            y = _y(value, span)
            parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="#dddddd"/>')
            parts.append(_text(_LEFT - 6, y + 4, _number(value), anchor="end"))
            if not self.names:
                parts.append(
                    _text(_x(right * tick / _TICKS, right), _HEIGHT - _BOTTOM + 18, _number(right * tick / _TICKS), anchor="middle")
                )
        parts += [_text(_x(place, right), _HEIGHT - _BOTTOM + 18, name, anchor="middle") for place, name in enumerate(self.names)]
        for number, ((name, own), color) in enumerate(zip(self.series.items(), cycle(_COLORS), strict=False)):
            parts += self._drawn(name, own, color, right, span)
            y = _TOP + number * _LEGEND_LINE
            parts.append(f'<rect x="{_WIDTH - _RIGHT + 16}" y="{y}" width="10" height="10" fill="{color}"/>')
            parts.append(_text(_WIDTH - _RIGHT + 32, y + 10, name))
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _drawn(self, name: str, own: Points, color: str, right: float, span: tuple[float, float]) -> list[str]:
        places = [(_x(x, right), _y(y, span)) for x, y in own]
        drawn = []
        for (left, down), (x, y) in zip(places, own, strict=True):
            hint = f"<title>{escape(name)}: {_number(x)}, {_number(y)}</title>"
            drawn.append(f'<circle cx="{left:.1f}" cy="{down:.1f}" r="4" fill="{color}">{hint}</circle>')
        if self.has_lines and places:
            path = "L".join(f"{left:.1f} {down:.1f}" for left, down in places)
            drawn.insert(0, f'<path d="M{path}" fill="none" stroke="{color}"/>')
        return drawn


def plots(report: Mapping[str, Any]) -> dict[str, str]:
    """The plots of a report by name: ``quality``, ``history`` and, where there are variants, ``scale`` and ``place``."""
    has_model = "with_model" in report
    methods = report["with_model"] if has_model else report["methods"]
    by_variant = report.get("with_model_by_variant", {}) if has_model else report["by_variant"]
    measure, score = ("f1", "F1") if has_model and _has_f1(methods) else ("recall_at_10", "recall@10")
    estimated = "" if has_model else " (estimated)"
    charts = {
        "quality": Chart(
            title=f"{score} by the tokens of ten results",
            x="tokens of ten results",
            y=score,
            series={name: [(each["query"]["tokens_of_first_10"], each["overall"].get(measure, 0.0))] for name, each in methods.items()},
            has_lines=False,
        ),
        "history": Chart(
            title="Tokens per message as the history grows",
            x="messages before",
            y=f"model tokens per message{estimated}",
            series={
                name: [(each["messages_before"], each["tokens_per_message"]) for each in one["history"]] for name, one in methods.items()
            },
        ),
    }
    scales = {int(each["name"].removesuffix(" %")): each["name"] for each in report["variants"] if each["kind"] == "scale"}
    if scales:
        found: dict[str, list[tuple[float, float]]] = {name: [(100, methods[name]["overall"].get(measure, 0.0))] for name in methods}
        for percent, variant in scales.items():
            for name, each in by_variant[variant].items():
                found[name].append((percent, each["overall"].get(measure, 0.0)))
        charts["scale"] = Chart(
            title=f"{score} by the length of the history",
            x="length of the history, %",
            y=score,
            series={name: sorted(each) for name, each in found.items()},
        )
    if any(each["kind"] == "place" for each in report["variants"]):
        charts["place"] = Chart(
            title=f"{score} by the place of the evidence",
            x="third of the history with the evidence",
            y=score,
            series={
                name: [(number, by_variant[place][name]["overall"].get(measure, 0.0)) for number, place in enumerate(PLACES)]
                for name in methods
            },
            names=PLACES,
        )
    return {name: chart.svg() for name, chart in charts.items()}


def _has_f1(methods: Mapping[str, Any]) -> bool:
    return all("f1" in each["overall"] for each in methods.values())


def _x(value: float, right: float) -> float:
    return _LEFT + value / right * (_WIDTH - _LEFT - _RIGHT)


def _y(value: float, span: tuple[float, float]) -> float:
    low, high = span
    return _HEIGHT - _BOTTOM - (value - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.3g}"


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'
