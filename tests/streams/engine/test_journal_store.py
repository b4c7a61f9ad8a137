"""Entries of a worker survive its process, however it ends, and a damaged database stops no worker."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from runtime.metrics import Metrics
from streams.engine.failures.crash_journal import CrashJournal
from streams.engine.failures.journal_store import JournalStore
from streams.engine.failures.suspects import JournalEntry
from streams.errors import LocalTableError

GROUP, TOPIC = "varve.sessions", "varve.messages"
ENTRIES = [JournalEntry(0, 5, 9), JournalEntry(3, 2**40, 2**40 + 7, 2, was_alone=True), JournalEntry(1, 0, 0, 1)]
DYING = """
import asyncio, os, signal, sys
from pathlib import Path
from runtime.metrics import Metrics
from streams.engine.failures.crash_journal import CrashJournal

async def main():
    path, group, topic = sys.argv[1:4]
    entries = CrashJournal.open(Path(path), group=group, topic=topic, maximum_crashes=3, stage="test", metrics=Metrics(), is_lost=bool)
    async with entries.held(1, 10, 19):
        pass
    async with entries.held(0, 5, 5), entries.held(1, 20, 29):
        os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
BUSY = """
import sys
from pathlib import Path
from streams.engine.failures.journal_store import JournalStore
from streams.engine.failures.suspects import JournalEntry

store = JournalStore(Path(sys.argv[1]), group=sys.argv[2], topic=sys.argv[3])
held = store.put(JournalEntry(7, 0, 0))
print("ready", flush=True)
for offset in range(1, 10_000_000):
    following = store.put(JournalEntry(7, offset, offset))
    store.free(held)
    held = following
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "crash-journal.sqlite"


@contextmanager
def opened(path: Path, *, group: str = GROUP, topic: str = TOPIC) -> Iterator[JournalStore]:
    with closing(JournalStore(path, group=group, topic=topic)) as store:
        yield store


def read(path: Path) -> list[JournalEntry]:
    with opened(path) as store:
        return store.entries()


def write(path: Path, *, group: str = GROUP, topic: str = TOPIC) -> None:
    with opened(path, group=group, topic=topic) as store:
        store.replace(ENTRIES)


def test_entries_are_read_as_they_were_written(path: Path) -> None:
    with opened(path) as store:
        assert list(store.replace(ENTRIES[:1]).values()) == ENTRIES[:1]
        slots = [store.put(entry) for entry in ENTRIES[1:]]
        assert store.entries() == ENTRIES
        store.free(slots[0])
    assert read(path) == [ENTRIES[0], ENTRIES[2]]


def test_replacement_removes_earlier_entries(path: Path) -> None:
    write(path)
    with opened(path) as store:
        slots = store.replace(ENTRIES[1:])
        assert store.entries() == list(slots.values()) == ENTRIES[1:]


def test_many_entries_are_kept(path: Path) -> None:
    entries = [JournalEntry(partition, 0, 0) for partition in range(1_000)]
    with opened(path) as store:
        for entry in entries:
            store.put(entry)
    assert read(path) == entries


def test_a_killed_process_leaves_its_open_entries(path: Path) -> None:
    for crashes in (1, 2):
        ended = subprocess.run([sys.executable, "-c", DYING, str(path), GROUP, TOPIC], capture_output=True, text=True, check=False)
        assert ended.returncode == -9, ended.stderr
        entries = CrashJournal.open(
            path, group=GROUP, topic=TOPIC, maximum_crashes=3, stage="test", metrics=(metrics := Metrics()), is_lost=bool
        )
        entries.close()
        assert read(path) == [JournalEntry(0, 5, 5, crashes), JournalEntry(1, 20, 29, crashes)]
        assert metrics.suspects.labels("test")._value.get() == 11


def test_kills_between_writes_lose_no_entry(path: Path) -> None:
    for _ in range(5):
        with subprocess.Popen([sys.executable, "-c", BUSY, str(path), GROUP, TOPIC], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            os.kill(process.pid, signal.SIGKILL)
        with capture_logs() as logs, opened(path) as store:
            held = store.entries()
            store.replace([])
        assert logs == []
        assert 1 <= len(held) <= 2, "one entry, and the next one if the kill came before the removal"
        assert [each.first for each in held] == list(range(held[0].first, held[0].first + len(held)))


def test_entries_are_removed_though_the_disk_is_full(path: Path) -> None:
    with opened(path) as store:
        sizes = [each.stat().st_size for each in path.parent.iterdir()]
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (max(sizes), before[1]))
            for offset in range(500):
                slots = [store.put(JournalEntry(partition, offset, offset)) for partition in range(30)]
                for slot in slots:
                    store.free(slot)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, ignored)
    assert len(sizes) == 2
    assert max(sizes) < 48 * 1024
    assert read(path) == []


@pytest.mark.parametrize(("group", "topic"), [("varve.events", TOPIC), (GROUP, "varve.windows")])
def test_another_groups_entries_are_ignored(group: str, topic: str, path: Path) -> None:
    write(path, group=group, topic=topic)
    with capture_logs() as logs:
        assert read(path) == []
    assert [(entry["event"], entry["path"]) for entry in logs] == [("crash_journal_ignored", str(path))]
    with capture_logs() as logs:
        assert read(path) == []
    assert logs == [], "the database belongs to the new group"


def assert_replaced(path: Path) -> None:
    """Expects that the store starts again without entries, and works."""
    with capture_logs() as logs:
        assert read(path) == []
    assert [entry["event"] for entry in logs] == ["crash_journal_ignored"]
    write(path)
    assert read(path) == ENTRIES


@pytest.mark.parametrize("content", [b"x" * 600, b"{}\n" * 2_000, bytes(5_000)])
def test_a_foreign_file_is_replaced(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    assert_replaced(path)


def test_a_damaged_database_is_replaced(path: Path) -> None:
    write(path)
    with closing(sqlite3.connect(path)) as database:
        (page,) = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'entries'").fetchone()
    content = bytearray(path.read_bytes())
    content[1024 * (page - 1) : 1024 * page] = b"\xa5" * 1024
    path.write_bytes(content)
    assert_replaced(path)


def test_impossible_entries_are_ignored(path: Path) -> None:
    write(path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute("UPDATE entries SET last = first - 1 WHERE partition = 1")
    with capture_logs() as logs:
        assert read(path) == []
    assert [entry["event"] for entry in logs] == ["crash_journal_ignored"]


def test_a_new_database_has_no_entries(path: Path) -> None:
    with capture_logs() as logs:
        assert read(path) == []
    assert logs == []


def test_an_unwritable_path_is_named(path: Path) -> None:
    path.mkdir()
    with pytest.raises(LocalTableError, match=str(path)):
        JournalStore(path, group=GROUP, topic=TOPIC)
