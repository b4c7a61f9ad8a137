"""The report of a comparison as Markdown and as a plot."""

from collections.abc import Mapping
from html import escape
from typing import Any, Final

_WIDTH: Final = 640
_HEIGHT: Final = 400
_MARGIN: Final = 60
_MEBIBYTE: Final = 2**20


def markdown(report: Mapping[str, Any]) -> str:
    """The report as tables, the best method first."""
    methods = sorted(report["methods"].items(), key=lambda each: -_recall(each[1]))
    categories = sorted({name for _, each in methods for name in each["categories"]})
    lines = [
        f"# Memory methods on {report['data']}",
        "",
        f"{report['conversations']} conversations, {report['questions']} answerable questions, schema `{report['schema']}`. "
        f"{report['setting']}.",
        "",
        _row("method", "recall@10", "hit@5", "MRR", *(f"recall@10 {each}" for each in categories)),
        _row(*["---"] * (4 + len(categories))),
        *(
            _row(
                name,
                *(f"{each['overall'].get(measure, 0):.3f}" for measure in ("recall_at_10", "hit_at_5", "mrr")),
                *(f"{each['categories'].get(one, {}).get('recall_at_10', 0):.3f}" for one in categories),
            )
            for name, each in methods
        ),
        "",
        _row(
            "method",
            "memories",
            "records, MiB",
            "vectors, MiB",
            "ingestion, s",
            "model tokens per turn",
            "tokens of 10 results",
            f"evidence in {report['budget']} tokens",
            "recall, ms",
        ),
        _row(*["---"] * 9),
        *(
            _row(
                name,
                str(each["memories"]),
                f"{each['record_bytes'] / _MEBIBYTE:.2f}",
                f"{each['vector_bytes'] / _MEBIBYTE:.2f}",
                f"{each['ingestion']['seconds']:.1f}",
                f"{each['ingestion']['model_tokens_per_turn']:.0f}",
                f"{each['query']['tokens_of_first_10']:.0f}",
                f"{each['query']['packed_share_of_evidence']:.3f}",
                f"{each['query']['seconds'] * 1000:.1f}",
            )
            for name, each in methods
        ),
        "",
        "## What each method lacks without a model",
        "",
        *(f"- `{name}`: {each['description']}" for name, each in methods),
    ]
    return "\n".join(lines) + "\n"


def plot(report: Mapping[str, Any]) -> str:
    """An SVG: recall@10 by the tokens of ten results, one point per method."""
    points = {name: (each["query"]["tokens_of_first_10"], _recall(each)) for name, each in report["methods"].items()}
    most = max((tokens for tokens, _ in points.values()), default=0) or 1
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<path d="M{_MARGIN} {_MARGIN // 2}V{_HEIGHT - _MARGIN}H{_WIDTH - _MARGIN // 2}" fill="none" stroke="black"/>',
        f'<text x="{_WIDTH // 2}" y="{_HEIGHT - 20}" text-anchor="middle">tokens of ten results (axis ends at {most:.0f})</text>',
        f'<text x="20" y="{_HEIGHT // 2}" text-anchor="middle" transform="rotate(-90 20 {_HEIGHT // 2})">recall@10, 0 to 1</text>',
    ]
    for name, (tokens, recall) in points.items():
        x = _MARGIN + tokens / most * (_WIDTH - 2 * _MARGIN)
        y = _HEIGHT - _MARGIN - recall * (_HEIGHT - 1.5 * _MARGIN)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="steelblue"><title>{escape(name)} {recall:.3f}</title></circle>')
        parts.append(f'<text x="{x:.1f}" y="{y - 8:.1f}" text-anchor="middle">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _recall(method: Mapping[str, Any]) -> float:
    return float(method["overall"].get("recall_at_10", 0.0))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
