"""A local table's files on the disk, and a table whose files are damaged."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from streams.engine.state import rocksdb_store
from streams.engine.state.compaction import TableCompaction
from streams.engine.state.partition_state import StateChange
from streams.engine.state.rocksdb_store import RocksDBStore
from streams.errors import LocalTableError
from tests.streams.harness import until


def test_logs_of_rocksdb_are_bounded(tmp_path: Path) -> None:
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


WORD = b"ZQXsecret"


def files_with(folder: Path, word: bytes) -> list[str]:
    """The table's files that have a word."""
    return sorted(each.name for each in folder.rglob("*") if each.is_file() and word in each.read_bytes())


@pytest.mark.parametrize("restarts", [0, 1])
@pytest.mark.parametrize("key", [b"a " + WORD, b"z " + WORD])
async def test_a_compaction_removes_keys_from_every_file(tmp_path: Path, key: bytes, restarts: int) -> None:
    """The manifest has the first and the last key of each file."""
    table = RocksDBStore(tmp_path / "0")
    table.open()
    table.write([StateChange(key, b"value"), StateChange(b"other", b"stays")], 1)
    for _ in range(restarts):
        table.close()
        table.open()
    compaction = TableCompaction(table, name="entities/0")
    compaction.announce()
    table.write([StateChange(key, None)], 2)
    compaction.start()
    await until(lambda: table.compaction_mark is None)
    await until(lambda: files_with(tmp_path, WORD) == [])
    assert table.read(b"other") == b"stays"
    await compaction.stop()
    table.close()


@pytest.mark.parametrize("restarts", [0, 1])
@pytest.mark.parametrize("replacement", [None, b"other"])
async def test_a_compaction_removes_former_values(tmp_path: Path, replacement: bytes | None, restarts: int) -> None:
    table = RocksDBStore(tmp_path / "0")
    table.open()
    table.write([StateChange(b"key", b"my " + WORD), StateChange(b"other", b"stays")], 1)
    for _ in range(restarts):
        table.close()
        table.open()
    compaction = TableCompaction(table, name="windows/0")
    compaction.announce()
    table.write([StateChange(b"key", replacement)], 2)
    assert files_with(tmp_path, WORD) != []
    compaction.start()
    await until(lambda: table.compaction_mark is None)
    assert files_with(tmp_path, WORD) == []
    assert (table.read(b"key"), table.read(b"other"), table.changelog_offset) == (replacement, b"stays", 2)
    await compaction.stop()
    table.close()


async def test_an_interrupted_compaction_is_due_after_restart(tmp_path: Path) -> None:
    table = RocksDBStore(tmp_path / "0")
    table.open()
    table.write([StateChange(b"key", WORD)], 1)
    TableCompaction(table, name="windows/0").announce()
    table.write([StateChange(b"key", None)], 2)
    table.close()
    table.open()
    assert [*table.scan()] == [], "the mark is no row"
    compaction = TableCompaction(table, name="windows/0")
    compaction.start()
    await until(lambda: table.compaction_mark is None)
    assert files_with(tmp_path, WORD) == []
    await compaction.stop()
    table.close()


async def test_rows_erased_during_a_compaction_are_compacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compact, entered, released, runs = RocksDBStore.compact, threading.Event(), threading.Event(), list[None]()

    def held(table: RocksDBStore) -> None:
        runs.append(None)
        compact(table)
        entered.set()
        released.wait(30)

    monkeypatch.setattr(RocksDBStore, "compact", held)
    table = RocksDBStore(tmp_path / "0")
    table.open()
    table.write([StateChange(b"key", WORD)], 1)
    compaction = TableCompaction(table, name="windows/0")
    compaction.announce()
    compaction.start()
    await until(entered.is_set)
    compaction.announce()
    table.write([StateChange(b"key", None)], 2)
    compaction.start()
    released.set()
    await until(lambda: table.compaction_mark is None)
    assert (files_with(tmp_path, WORD), len(runs)) == ([], 2)
    await compaction.stop()
    table.close()


def test_a_table_is_closed_during_a_compaction(tmp_path: Path) -> None:
    table = RocksDBStore(tmp_path / "0")
    table.open()
    for batch in range(20):
        table.write([StateChange(b"%d/%d" % (batch, key), os.urandom(800)) for key in range(500)], batch)
    with ThreadPoolExecutor(1) as thread:
        compacting = thread.submit(table.compact)
        table.close()
        table.open()
        with suppress(LocalTableError):
            compacting.result(30)
    assert table.changelog_offset == 19
    table.close()


def _filled(path: Path) -> RocksDBStore:
    """A table with a row in its own file, closed."""
    table = RocksDBStore(path)
    table.open()
    table.write([StateChange(b"key", bytes(range(256)) * 100)], 41)
    table.close()
    return table


@pytest.mark.parametrize("name", ["CURRENT", "MANIFEST-*"])
def test_a_damaged_table_is_rebuilt(name: str, tmp_path: Path) -> None:
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
