"""The metrics of a table, and of its restore."""

from pathlib import Path

from runtime.metrics import Metrics
from streams.engine.state.partition_state import StateChange
from streams.engine.state.rocksdb_store import RocksDBStore
from streams.engine.state.store_metrics import RestoreProgress, TableMetrics


def shown(metrics: Metrics, name: str) -> float | None:
    return metrics.registry.get_sample_value(f"varve_{name}", {"stage": "entities", "partition": "3"})


def test_a_restore_reports_progress_and_completion() -> None:
    assert RestoreProgress.of(begin=100, position=100, end=500, seconds=0.0) == RestoreProgress(left_rows=400, done_ratio=0.0, left_s=None)
    assert RestoreProgress.of(begin=100, position=200, end=500, seconds=2.0) == RestoreProgress(left_rows=300, done_ratio=0.25, left_s=6.0)
    assert RestoreProgress.of(begin=100, position=500, end=500, seconds=8.0) == RestoreProgress(left_rows=0, done_ratio=1.0, left_s=0.0)
    assert RestoreProgress.of(begin=7, position=7, end=7, seconds=0.0).done_ratio == 1.0


def test_a_restore_is_shown_while_it_runs() -> None:
    now, metrics = [10.0], Metrics()
    table = TableMetrics(metrics=metrics, stage="entities", partition=3, clock=lambda: now[0])
    table.on_restoring(0, 90)
    assert (shown(metrics, "restore_left_rows"), shown(metrics, "restore_left_seconds")) == (90, None)
    now[0] = 12.0
    table.on_restoring(30, 90)
    assert (shown(metrics, "restore_left_rows"), shown(metrics, "restore_left_seconds")) == (60, 4)
    table.on_restored()
    assert {shown(metrics, f"restore_{each}") for each in ("left_rows", "done_ratio", "left_seconds")} == {None}
    now[0] = 100.0
    table.on_restoring(60, 90)
    assert (shown(metrics, "restore_done_ratio"), shown(metrics, "restore_left_seconds")) == (0, None), "the next one starts from zero"


def test_a_table_shows_its_size_while_it_is_open(tmp_path: Path) -> None:
    metrics, table = Metrics(), RocksDBStore(tmp_path / "table")
    shows = TableMetrics(metrics=metrics, stage="entities", partition=3)
    table.open()
    shows.on_opened(table.size_bytes)
    before = shown(metrics, "table_bytes")
    table.write([StateChange(f"key-{number}".encode(), b"x" * 1000) for number in range(1000)], 1000)
    after = shown(metrics, "table_bytes")
    table.close()
    assert before is not None
    assert after is not None
    assert after - before >= 1_000_000
    assert shown(metrics, "table_bytes") == 0
    shows.on_closed()
    assert shown(metrics, "table_bytes") is None
