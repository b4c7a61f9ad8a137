"""What a local table leaves on the disk beside its rows."""

from pathlib import Path

import pytest

from streams.delivery import local_table
from streams.delivery.local_table import LocalTable
from streams.delivery.state import Row


def test_what_rocksdb_tells_of_itself_is_bounded(tmp_path: Path) -> None:
    """A worker's folder lives as long as its volume, and is opened with each rebalance."""
    table = LocalTable(tmp_path / "0")
    for offset in range(10):
        table.open()
        table.write([Row(b"key", b"value")], offset)
        table.close()
    assert len([*(tmp_path / "0").glob("LOG*")]) <= 3


def test_a_long_run_begins_a_new_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_table, "_LOG_BYTES", 20_000)
    table = LocalTable(tmp_path / "0")
    table.open()
    for offset in range(40):
        table.write([Row(b"%d" % key, bytes(500_000)) for key in range(4)], offset)
    table.close()
    logs = [*(tmp_path / "0").glob("LOG*")]
    assert 1 < len(logs) <= 3
    assert max(each.stat().st_size for each in logs) < 40_000
