"""Entries and suspects of one worker in an SQLite database that survives the process, however it ends.

Each change is one transaction in SQLite's write-ahead log, in the page cache: a kill loses nothing. There is no ``fsync``, because after a
power failure no record is suspected. If that damages the database, the next worker starts without entries.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from runtime.logs import logger
from streams.engine.failures.suspects import JournalEntry
from streams.errors import LocalTableError

_log = logger(__name__)

_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_WAL_PAGES: Final = 16
"""Pages of the write-ahead log at which SQLite moves them to the database."""
_RESERVED_BYTES: Final = 24 * 1024
"""Space that both files have from the start, more than they use. An entry might else be written to a full disk and not be removed: the
next workers would suspect its records, and finally reject them."""
_SCHEMA: Final = f"""
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA page_size = 1024;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
PRAGMA wal_autocheckpoint = {_WAL_PAGES};
CREATE TABLE IF NOT EXISTS owner (consumer_group TEXT NOT NULL, topic TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS entries (
    slot INTEGER PRIMARY KEY,
    partition INTEGER NOT NULL CHECK (partition >= 0),
    first INTEGER NOT NULL CHECK (first >= 0),
    last INTEGER NOT NULL CHECK (last >= first),
    crashes INTEGER NOT NULL CHECK (crashes >= 0),
    was_alone INTEGER NOT NULL CHECK (was_alone IN (0, 1))
) STRICT;
CREATE TABLE IF NOT EXISTS reserved (bytes BLOB) STRICT;
"""


class JournalStore:
    """A worker's database. It has the entries that the previous worker left, until :meth:`replace`.

    A database of another group or topic, or a damaged file, is logged and emptied.

    Args:
        path: The file, in the worker's own folder.
        group: The consumer group.
        topic: Its source.

    Raises:
        LocalTableError: The file cannot be read or written.
    """

    def __init__(self, path: Path, *, group: str, topic: str) -> None:
        self._path = path
        self._owner = (group, topic)
        with self._faults():
            try:
                self._database = self._open()
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode not in _DAMAGE:
                    raise
                self._log_ignored(str(error))
                for each in (path, path.with_name(f"{path.name}-wal")):
                    each.unlink(missing_ok=True)
                self._database = self._open()

    def entries(self) -> list[JournalEntry]:
        """All entries, in the order in which they were written."""
        with self._faults():
            rows = self._database.execute("SELECT partition, first, last, crashes, was_alone FROM entries ORDER BY slot").fetchall()
        return [JournalEntry(partition, first, last, crashes, bool(was_alone)) for partition, first, last, crashes, was_alone in rows]

    def replace(self, entries: Iterable[JournalEntry]) -> dict[int, JournalEntry]:
        """Replaces all entries in one transaction; returns the new ones by slot.

        Raises:
            LocalTableError: The file cannot be written.
        """
        with self._faults(), self._transaction():
            self._database.execute("DELETE FROM entries")
            return {self._insert(entry): entry for entry in entries}

    def put(self, entry: JournalEntry) -> int:
        """Writes an entry; returns its slot.

        Raises:
            LocalTableError: The file cannot be written.
        """
        with self._faults():
            return self._insert(entry)

    def free(self, slot: int) -> None:
        """Removes a slot's entry.

        Raises:
            LocalTableError: The file cannot be written.
        """
        with self._faults():
            self._database.execute("DELETE FROM entries WHERE slot = ?", (slot,))

    def close(self) -> None:
        """Closes the database and keeps its content."""
        self._database.close()

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, isolation_level=None)
        try:
            self._prepare(database)
        except BaseException:
            database.close()
            raise
        return database

    def _prepare(self, database: sqlite3.Connection) -> None:
        database.executescript(_SCHEMA)
        (check,) = database.execute("PRAGMA quick_check").fetchone()
        owner = database.execute("SELECT consumer_group, topic FROM owner").fetchall()
        if check != "ok" or (owner and owner != [self._owner]):
            self._log_ignored("damaged" if check != "ok" else f"written for the group and topic {owner}")
            database.execute("DELETE FROM entries")
        database.executescript("DELETE FROM owner; DELETE FROM reserved")
        database.execute("INSERT INTO owner VALUES (?, ?)", self._owner)
        database.execute("INSERT INTO reserved VALUES (zeroblob(?))", (_RESERVED_BYTES,))
        database.executescript("DELETE FROM reserved; PRAGMA wal_checkpoint(RESTART)")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN")
        with self._database:
            yield

    def _insert(self, entry: JournalEntry) -> int:
        row = (entry.partition, entry.first, entry.last, entry.crashes, entry.was_alone)
        inserted = self._database.execute("INSERT INTO entries VALUES (NULL, ?, ?, ?, ?, ?)", row)
        assert inserted.lastrowid is not None
        return inserted.lastrowid

    def _log_ignored(self, problem: str) -> None:
        _log.warning("crash_journal_ignored", path=str(self._path), error=problem)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise LocalTableError(
                f"{self._path} cannot be read or written: {error}; free disk space, or give the worker access to it"
            ) from error
