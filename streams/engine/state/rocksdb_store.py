"""Local table of one source partition: rows in RocksDB, and the changelog offset that they contain."""

import contextlib
import secrets
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import rocksdict

from runtime.logs import logger
from streams.engine.state.partition_state import StateChange
from streams.errors import LocalTableError

_log = logger(__name__)

_MIB: Final = 1024 * 1024
_LOG_BYTES: Final = 1 * _MIB
_LOGS: Final = 3
"""Number of RocksDB's log files in a table's folder, and their size limit. RocksDB's default is a thousand files of unlimited size."""
_DAMAGE: Final = "Corruption"
"""RocksDB's word for a file whose content is not what was written."""
_SIZES: Final = ("rocksdb.total-sst-files-size", "rocksdb.cur-size-all-mem-tables")
_OFFSET_KEY: Final = b"\x00changelog-offset"
_COMPACTION_KEY: Final = b"\x00compaction-due"
_OWN_KEYS: Final = frozenset({_OFFSET_KEY, _COMPACTION_KEY})
"""Distinct from all rows: a row's key is never empty and never begins with a zero byte (:mod:`memory.keys`)."""


class RocksDBStore:
    """Rows of one partition, on this machine's disk. Lost rows are restored from the changelog.

    Args:
        path: Its folder. No other process opens it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database: rocksdict.Rdict | None = None
        self._compacting = threading.Lock()

    def open(self) -> None:
        """Opens the table, and creates it if it is missing or damaged. Idempotent.

        A damaged table would stay damaged for every later worker, and the changelog has all of its rows.

        Raises:
            LocalTableError: The disk does not allow it.
        """
        if self._database is not None:
            return
        try:
            self._open()
        except LocalTableError as error:
            if not _is_damage(error):
                raise
            _log.warning("local_table_damaged", path=str(self._path), error=str(error))
            shutil.rmtree(self._path, ignore_errors=True)
            self._open()

    def close(self) -> None:
        """Closes the table. Idempotent."""
        database, self._database = self._database, None
        if database is not None:
            is_compacting = self._compacting.locked()
            if is_compacting:
                database.cancel_all_background(True)
            with self._compacting, self._faults("closed"):
                # After a cancellation RocksDB flushes nothing any more: the rows are in its write-ahead log. Dropping the object closes it.
                if not is_compacting:
                    database.close()

    def clear(self) -> None:
        """Replaces the table by an empty one."""
        self.close()
        shutil.rmtree(self._path, ignore_errors=True)
        self.open()

    @property
    def changelog_offset(self) -> int | None:
        """The offset of the newest changelog record that the rows contain; None for a new table."""
        with self._faults("read"):
            raw = self._opened().get(_OFFSET_KEY)
        return None if raw is None else int(raw)

    def size_bytes(self) -> int:
        """Bytes of its files and of unflushed data in memory; 0 while it is closed."""
        database = self._database
        return 0 if database is None else sum(database.property_int_value(name) or 0 for name in _SIZES)

    def read(self, key: bytes) -> bytes | None:
        """The row's bytes, with the offset."""
        with self._faults("read"):
            value: bytes | None = self._opened().get(key)
        return value

    def scan(self) -> Iterator[tuple[bytes, bytes]]:
        """All rows."""
        with self._faults("read"):
            rows = cast(Iterator[tuple[bytes, bytes]], self._opened().items())
            yield from (row for row in rows if row[0] not in _OWN_KEYS)

    def scan_from(self, key: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The rows from a key on, sorted by key."""
        with self._faults("read"):
            yield from cast(Iterator[tuple[bytes, bytes]], self._opened().items(from_key=key))

    def write(self, rows: list[StateChange], changelog_offset: int) -> None:
        """Writes rows and the changelog's offset in one atomic batch."""
        batch = rocksdict.WriteBatch(raw_mode=True)
        for row in rows:
            if row.value is None:
                batch.delete(row.key)
            else:
                batch.put(row.key, row.value)
        batch.put(_OFFSET_KEY, str(changelog_offset).encode())
        with self._faults("written"):
            self._opened().write(batch)

    @property
    def compaction_mark(self) -> bytes | None:
        """The mark of a compaction that is due; None: none is."""
        with self._faults("read"):
            mark: bytes | None = self._opened().get(_COMPACTION_KEY)
        return mark

    def mark_for_compaction(self) -> None:
        """Notes that a compaction is due, in place of an earlier mark."""
        with self._faults("written"):
            self._opened().put(_COMPACTION_KEY, secrets.token_bytes(8))

    def unmark(self, mark: bytes) -> None:
        """Removes a mark, unless a later one is there."""
        if self.compaction_mark == mark:
            with self._faults("written"):
                self._opened().delete(_COMPACTION_KEY)
                # The next manifest no longer has the first and last keys of the files that the compaction replaced.
                self._opened().flush()

    def compact(self) -> None:
        """Rewrites the table's files without deleted and replaced rows. Called in a thread: a large table takes minutes."""
        with self._compacting, self._faults("compacted"):
            # A file that is merely moved to the last level keeps the keys of its deleted rows.
            options = rocksdict.CompactOptions()
            options.set_bottommost_level_compaction(rocksdict.BottommostLevelCompaction.force())
            self._opened().compact_range(None, None, compact_opt=options)

    def _open(self) -> None:
        with self._faults("opened"):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._database = rocksdict.Rdict(str(self._path), options=_options())

    def _opened(self) -> rocksdict.Rdict:
        if self._database is None:
            raise LocalTableError(f"the local table in {self._path} is not open")
        return self._database

    @contextlib.contextmanager
    def _faults(self, done: str) -> Iterator[None]:
        try:
            yield
        except LocalTableError:
            raise
        except Exception as error:  # rocksdict raises no narrower one
            remedy = "; stop the worker and remove that folder: the changelog has all of it" if _DAMAGE in str(error) else ""
            raise LocalTableError(f"the local table in {self._path} cannot be {done}: {error}{remedy}") from error


def _is_damage(error: LocalTableError) -> bool:
    return _DAMAGE in str(error.__cause__)


def _options() -> rocksdict.Options:
    """Limits a partition's memory to about 32 MB; RocksDB's defaults would take far more for each of many partitions."""
    options = rocksdict.Options(raw_mode=True)
    options.create_if_missing(True)
    options.set_max_open_files(64)
    options.set_write_buffer_size(8 * _MIB)
    options.set_max_write_buffer_number(2)
    options.set_target_file_size_base(16 * _MIB)
    options.set_max_log_file_size(_LOG_BYTES)
    options.set_keep_log_file_num(_LOGS)
    # Each change of the files begins a new manifest. One that continues keeps the keys of erased users until a restart.
    options.set_max_manifest_file_size(1)
    blocks = rocksdict.BlockBasedOptions()
    blocks.set_block_cache(rocksdict.Cache(16 * _MIB))
    blocks.set_bloom_filter(10, block_based=False)
    options.set_block_based_table_factory(blocks)
    return options
