"""The figures and the table."""

from typing import Any

from benchmarks.peers.report import median_of_rounds, speed, table

RESULT = {
    "start_s": 2.0,
    "add_s": 4.0,
    "1 caller": {"seconds": [0.01, 0.02, 0.03, 0.04], "elapsed_s": 0.1},
    "10 callers": {"seconds": [0.05, 0.1], "elapsed_s": 0.1},
    "disk_bytes": 3_000_000,
    "disk_bytes_empty": 1_000_000,
}
CPU_S = {"start": 0.0, "add": 5.0, "warm up": 6.0, "1 caller": 6.5, "10 callers": 6.54, "end": 7.0}


def _figures(**changed: Any) -> dict[str, Any]:
    figures = speed(RESULT, CPU_S, messages=100, peak_bytes=250_000_000, embedded_per_second=50.0)
    return {**figures, "recall_at_10": 0.5, "hit_at_5": 0.25, "mrr": 0.125, "characters_per_result": 80.0, **changed}


def test_speed_takes_each_phase_from_its_counters() -> None:
    figures = _figures()
    assert (figures["messages_per_second"], figures["ratio_to_embedding_alone"]) == (25.0, 0.5)
    assert figures["cpu_ms_per_message"] == 10.0
    assert figures["cpu_ms_per_search"] == 10.0
    assert (figures["p50_ms_1_caller"], figures["p95_ms_1_caller"]) == (25.0, 38.5)
    assert (figures["p95_ms_10_callers"], figures["searches_per_second_10_callers"]) == (97.5, 20.0)
    assert (figures["peak_memory_mb"], figures["disk_mb"], figures["disk_mb_empty"]) == (250.0, 3.0, 1.0)


def test_rounds_are_combined_by_their_medians() -> None:
    rounds = [_figures(messages_per_second=speed, versions={"a": "1"}) for speed in (10.0, 90.0, 20.0)]
    combined = median_of_rounds(rounds)
    assert (combined["messages_per_second"], combined["versions"]) == (20.0, {"a": "1"})


def test_table_has_a_column_for_each_measured_system() -> None:
    lines = table({"one": _figures(), "two": _figures(recall_at_10=0.75), "three": {"error": "no database"}}).splitlines()
    assert lines[0] == "| | one | two |"
    assert "| recall@10 | 0.500 | 0.750 |" in lines
    assert "| disk, MB (empty) | 3 (1) | 3 (1) |" in lines
    assert lines[-1] == "three was not measured: no database"
    assert {line.count("|") for line in lines if line.startswith("|")} == {4}
