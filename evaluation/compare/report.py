"""The report of a comparison as Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from evaluation.intervals import mean_with_interval
from evaluation.markdown import table

_MEBIBYTE: Final = 2**20


def markdown(report: Mapping[str, Any]) -> str:
    """The report as tables, the best method first."""
    has_model = "with_model" in report
    sessions = f" (first {report['sessions']} sessions)" if report["sessions"] else ""
    lines = [
        f"# Memory methods on {report['data']}",
        "",
        f"{report['format']}: {report['conversations']} conversations{sessions}, {report['questions']} answerable questions, schema "
        f"`{report['schema']}`. {report['setting']}.",
    ]
    if "estimate" in report:
        lines += ["", f"Estimate before the model was asked: {report['estimate']['text']}."]
    if has_model:
        lines += ["", f"## With the model {report['model']}", "", *_tables(report, report["with_model"], is_estimated=False)]
    lines += ["", "## Without a model", "", *_tables(report, report["methods"], is_estimated=True)]
    by_variant = report.get("with_model_by_variant", report["by_variant"])
    if by_variant:
        lines += ["", "## Length of the history, and place of the evidence", "", *_variants(report, by_variant)]
    lines += [f"\nLeft out: {reason}." for reason in report["variants_left_out"].values()]
    lines += [
        "",
        "## What each method lacks without a model",
        "",
        *(f"- `{name}`: {text}" for name, text in report["descriptions"].items()),
    ]
    return "\n".join(lines) + "\n"


def _tables(report: Mapping[str, Any], figures: Mapping[str, Any], *, is_estimated: bool) -> Iterator[str]:
    measures = _measures(figures)
    methods = sorted(figures.items(), key=lambda each: -_value(each[1]["overall"], measures[0][0]))
    yield from _quality_table(methods, measures)
    yield ""
    if is_estimated:
        yield "Calls and tokens of a model are estimated from its prompts: rules decided."
        yield ""
    yield from _cost_table(methods, budget=report["budget"])
    yield ""
    yield f"Evidence in {report['budget']} tokens: share, and the difference to the best method, question by question."
    yield ""
    yield from _equal_tokens(figures)
    yield ""
    yield "Tokens per message by the number of messages before:"
    yield ""
    yield from _history_table(methods)


def _quality_table(methods: Sequence[tuple[str, Any]], measures: Sequence[tuple[str, str]]) -> Iterator[str]:
    categories = sorted({name for _, each in methods for name in each["categories"]})
    first, first_shown = measures[0]
    yield from table(
        ["method", *(shown for _, shown in measures), *(f"{first_shown} {each}" for each in categories)],
        [
            [
                name,
                *(f"{_value(each['overall'], measure):.3f}" for measure, _ in measures),
                *(f"{_value(each['categories'].get(one, {}), first):.3f}" for one in categories),
            ]
            for name, each in methods
        ],
    )


def _cost_table(methods: Sequence[tuple[str, Any]], *, budget: int) -> Iterator[str]:
    yield from table(
        [
            "method",
            "memories",
            "records, MiB",
            "vectors, MiB",
            "ingestion, s",
            "model, s",
            "calls per message",
            "tokens per message",
            "tokens of 10 results",
            "tokens per question",
            f"evidence in {budget} tokens",
            "recall, ms",
            "recall p95, ms",
        ],
        [
            [
                name,
                str(each["memories"]),
                f"{each['record_bytes'] / _MEBIBYTE:.2f}",
                f"{each['vector_bytes'] / _MEBIBYTE:.2f}",
                _shown(each["ingestion"]["seconds"], 1),
                f"{each['ingestion']['model_seconds']:.1f}",
                f"{each['ingestion']['model_calls'] / max(1, each['turns']):.2f}",
                f"{each['ingestion']['model_tokens_per_turn']:.0f}",
                f"{each['query']['tokens_of_first_10']:.0f}",
                f"{each['query']['model_tokens']:.0f}",
                f"{each['query']['packed_share_of_evidence']:.3f}",
                _shown(each["query"]["seconds"], 1, factor=1000),
                _shown(each["query"]["seconds_p95"], 1, factor=1000),
            ]
            for name, each in methods
        ],
    )


def _history_table(methods: Sequence[tuple[str, Any]]) -> Iterator[str]:
    parts = sorted({one["messages_before"] for _, each in methods for one in each["history"]})
    rows = []
    for name, each in methods:
        tokens = {one["messages_before"]: one["tokens_per_message"] for one in each["history"]}
        rows.append([name, *(f"{tokens[part]:.0f}" if part in tokens else "" for part in parts)])
    yield from table(["method", *map(str, parts)], rows)


def _equal_tokens(figures: Mapping[str, Any]) -> list[str]:
    """The methods by the evidence in their packed contexts, which have the same number of tokens."""
    shares = {name: each["packed_shares"] for name, each in figures.items() if each["packed_shares"]}
    order = sorted(shares, key=lambda name: -sum(shares[name]))
    rows = []
    for name in order:
        apart = mean_with_interval([own - best for own, best in zip(shares[name], shares[order[0]], strict=True)])
        low, high = apart.interval
        rows.append([name, f"{sum(shares[name]) / len(shares[name]):.3f}", f"{apart.value:+.3f}", f"{low:+.3f} to {high:+.3f}"])
    return table(["method", "evidence", "difference", "95 % interval"], rows)


def _variants(report: Mapping[str, Any], by_variant: Mapping[str, Any]) -> Iterator[str]:
    whole = report.get("with_model", report["methods"])
    measure, shown = _measures(whole)[0]
    columns = {"100 %": whole, **by_variant}
    yield from table(
        ["method", *(f"{shown} {name}" for name in columns)],
        [[name, *(f"{_value(each[name]['overall'], measure):.3f}" for each in columns.values())] for name in whole],
    )


def _measures(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The measures and their names in the report, the most important first."""
    found = [("recall_at_10", "recall@10"), ("hit_at_5", "hit@5"), ("mrr", "MRR"), ("packed_share_of_evidence", "evidence in context")]
    answers = [("f1", "F1"), ("bleu_1", "BLEU-1")]
    return [*answers, *found] if all("f1" in each["overall"] for each in figures.values()) else found


def _value(summary: Mapping[str, Any], measure: str) -> float:
    return float(summary.get(measure, 0.0))


def _shown(value: float | None, decimals: int, *, factor: float = 1) -> str:
    return "" if value is None else f"{value * factor:.{decimals}f}"
