"""What a local table leaves on the disk beside its rows, and what becomes of one whose files are damaged."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from streams.engine.state import rocksdb_store as rocksdb_store
from streams.engine.state.partition_state import StateChange
from streams.engine.state.rocksdb_store import RocksDBStore
from streams.errors import LocalTableError


def test_what_rocksdb_tells_of_itself_is_bounded(tmp_path: Path) -> None:
    """A worker's folder lives as long as its volume, and is opened with each rebalance."""
    table = RocksDBStore(tmp_path / "0")
    for offset in range(10):
        table.open()
        table.write([StateChange(b"key", b"value")], offset)
        table.close()
    assert len([*(tmp_path / "0").glob("LOG*")]) <= 3


def test_a_long_run_begins_a_new_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rocksdb_store, "_LOG_BYTES", 20_000)
    table = RocksDBStore(tmp_path / "0")
    table.open()
    for offset in range(40):
        table.write([StateChange(b"%d" % key, bytes(500_000)) for key in range(4)], offset)
    table.close()
    logs = [*(tmp_path / "0").glob("LOG*")]
    assert 1 < len(logs) <= 3
    assert max(each.stat().st_size for each in logs) < 40_000


def _filled(path: Path) -> RocksDBStore:
    """A table with a row in a file of its own, closed."""
    table = RocksDBStore(path)
    table.open()
    table.write([StateChange(b"key", bytes(range(256)) * 100)], 41)
    table.close()
    return table


@pytest.mark.parametrize("name", ["CURRENT", "MANIFEST-*"])
def test_a_damaged_table_begins_anew(name: str, tmp_path: Path) -> None:
    table = _filled(tmp_path / "0")
    for path in (tmp_path / "0").glob(name):
        path.write_bytes(b"\xff" * 64)
    with capture_logs() as logs:
        table.open()
    assert (table.changelog_offset, [*table.scan()]) == (None, []), "all of it is read from the changelog again"
    assert [each["event"] for each in logs] == ["local_table_damaged"]
    table.write([StateChange(b"key", b"value")], 42)
    table.close()
    table.open()
    assert table.read(b"key") == b"value"
    table.close()


def test_damage_found_later_names_its_remedy(tmp_path: Path) -> None:
    table = _filled(tmp_path / "0")
    for path in (tmp_path / "0").glob("*.sst"):
        content = bytearray(path.read_bytes())
        content[100:200] = b"\xff" * 100
        path.write_bytes(content)
    table.open()
    with pytest.raises(LocalTableError, match="remove that folder: the changelog has all of it"):
        table.read(b"key")
    table.close()


def test_a_folder_without_access_is_no_damage(tmp_path: Path) -> None:
    (tmp_path / "0").write_text("a file in its place")
    with pytest.raises(LocalTableError, match="cannot be opened"):
        RocksDBStore(tmp_path / "0").open()
    assert (tmp_path / "0").read_text() == "a file in its place"
