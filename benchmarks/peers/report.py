"""The figures of each system, and the table that compares them."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final

from benchmarks.reports import p50, p95

MEGABYTE: Final = 1_000_000
_COLUMNS: Final = (
    ("messages a second", "messages_per_second", "{:.1f}"),
    ("share of the embedding alone", "ratio_to_embedding_alone", "{:.2f}"),
    ("CPU per message, ms", "cpu_ms_per_message", "{:.1f}"),
    ("search p50 / p95, ms: 1 caller", ("p50_ms_1_caller", "p95_ms_1_caller"), "{:.0f} / {:.0f}"),
    ("10 callers", ("p50_ms_10_callers", "p95_ms_10_callers"), "{:.0f} / {:.0f}"),
    ("CPU per search, ms", "cpu_ms_per_search", "{:.1f}"),
    ("recall@10", "recall_at_10", "{:.3f}"),
    ("hit@5", "hit_at_5", "{:.3f}"),
    ("MRR", "mrr", "{:.3f}"),
    ("characters per result", "characters_per_result", "{:.0f}"),
    ("peak memory, MB", "peak_memory_mb", "{:.0f}"),
    ("disk, MB (empty)", ("disk_mb", "disk_mb_empty"), "{:.0f} ({:.0f})"),
)


def speed(
    result: Mapping[str, Any], cpu_s: Mapping[str, float], *, messages: int, peak_bytes: int, embedded_per_second: float
) -> dict[str, float]:
    """The speed and size of a system.

    Args:
        result: The worker's result.
        cpu_s: Computing time of all processes of the system at the begin of each phase.
        messages: Number of messages.
        peak_bytes: The largest resident memory.
        embedded_per_second: Messages that the embedding model alone embeds in a second.
    """
    one, ten = result["1 caller"], result["10 callers"]
    one_ms, ten_ms = ([each * 1000 for each in part["seconds"]] for part in (one, ten))
    per_second = messages / result["add_s"]
    return {
        "start_s": round(result["start_s"], 1),
        "messages_per_second": round(per_second, 2),
        "ratio_to_embedding_alone": round(per_second / embedded_per_second, 3),
        "cpu_ms_per_message": round((cpu_s["warm up"] - cpu_s["add"]) / messages * 1000, 2),
        "p50_ms_1_caller": p50(one_ms, 1),
        "p95_ms_1_caller": p95(one_ms, 1),
        "p50_ms_10_callers": p50(ten_ms, 1),
        "p95_ms_10_callers": p95(ten_ms, 1),
        "searches_per_second_10_callers": round(len(ten["seconds"]) / ten["elapsed_s"], 1),
        "cpu_ms_per_search": round((cpu_s["10 callers"] - cpu_s["1 caller"]) / len(one["seconds"]) * 1000, 2),
        "peak_memory_mb": round(peak_bytes / MEGABYTE, 1),
        "disk_mb": round(result["disk_bytes"] / MEGABYTE, 1),
        "disk_mb_empty": round(result["disk_bytes_empty"] / MEGABYTE, 1),
    }


def median_of_rounds(rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The medians of all numbers. What is no number comes from the first round.

    Args:
        rounds: The figures of one system, at least one round.
    """
    return {
        name: statistics.median(each[name] for each in rounds) if isinstance(value, int | float) else value
        for name, value in rounds[0].items()
    }


def table(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """A table in Markdown, with a column for each system.

    Args:
        figures: The figures of each system by its name. A system that failed has only ``error``.
    """
    measured = {name: each for name, each in figures.items() if "error" not in each}
    lines = ["| | " + " | ".join(measured) + " |", "|---|" + "---|" * len(measured)]
    for title, keys, form in _COLUMNS:
        names = (keys,) if isinstance(keys, str) else keys
        cells = [form.format(*(each[name] for name in names)) for each in measured.values()]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    lines += [f"\n{name} was not measured: {each['error']}" for name, each in figures.items() if "error" in each]
    return "\n".join(lines)
