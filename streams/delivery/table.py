"""Faust's table and RocksDB store, changed where the delivery rules need it.

Faust assigns the changelog's partitions, recovers from them and opens the databases. What it does not do here is write: rows go
through :class:`streams.delivery.state.PartitionState`, after their changelog records are durable (ADR 4, C).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, cast

import faust
import rocksdict
from faust.stores.rocksdb import Store
from faust.types import TP

from streams.delivery.state import Row, is_stale
from streams.errors import LocalTableError

_MIB: Final = 1024 * 1024

ROCKSDB_OPTIONS: Final = {
    "max_open_files": 64,
    "write_buffer_size": 8 * _MIB,
    "max_write_buffer_number": 2,
    "target_file_size_base": 16 * _MIB,
    "block_cache_size": 16 * _MIB,
    "bloom_filter_size": 10,
}
"""Per partition and table; Faust's own defaults allow a 2 GiB cache each."""


class RowsOfPartition:
    """One partition of a :class:`PartitionStore`."""

    def __init__(self, store: "PartitionStore", changelog: TP) -> None:
        self._store = store
        self._changelog = changelog

    def read(self, key: bytes) -> bytes | None:
        """The row's bytes, position included."""
        with self._faults("read"):
            value: bytes | None = self._store.database(self._changelog.partition).get(key)
        return value

    def scan(self) -> Iterator[tuple[bytes, bytes]]:
        """All rows."""
        with self._faults("read"):
            for key, value in self._store.database(self._changelog.partition).items():
                if key != Store.offset_key:
                    yield key, value

    def write(self, rows: list[Row], changelog_offset: int) -> None:
        """Writes rows and the changelog's offset behind them, in one atomic batch."""
        batch = rocksdict.WriteBatch(raw_mode=True)
        for row in rows:
            if row.value is None:
                batch.delete(row.key)
            else:
                batch.put(row.key, row.value)
        batch.put(Store.offset_key, str(changelog_offset).encode())
        with self._faults("written"):
            self._store.database(self._changelog.partition).write(batch)

    @contextmanager
    def _faults(self, done: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # rocksdict raises no narrower one
            raise LocalTableError(
                f"the local table of {self._changelog.topic}/{self._changelog.partition} cannot be {done}: {error}"
            ) from error


class PartitionStore(Store):
    """Faust's RocksDB store whose partitions the delivery layer writes, and whose recovery refuses the late rows of a zombie."""

    def database(self, partition: int) -> Any:
        """The database of a partition that is assigned to us."""
        return self._db_for_partition(partition)

    def apply_changelog_batch(self, batch: Iterable[Any], to_key: Callable[[Any], Any], to_value: Callable[[Any], Any]) -> None:
        """Writes recovered rows, unless a newer one is there already.

        Args:
            batch: The changelog's records.
            to_key: Unused: keys are bytes.
            to_value: Unused: values are bytes.
        """
        newest: dict[TP, dict[bytes, bytes | None]] = defaultdict(dict)
        offsets: dict[TP, int] = {}
        for event in batch:
            message = event.message
            rows = newest[message.tp]
            stored = rows[message.key] if message.key in rows else self.database(message.partition).get(message.key)
            if message.value is None or not is_stale(message.value, stored):
                rows[message.key] = message.value
            offsets[message.tp] = message.offset
        for changelog, rows in newest.items():
            RowsOfPartition(self, changelog).write([Row(key, value) for key, value in rows.items()], offsets[changelog])


class PartitionTable(faust.Table):  # type: ignore[type-arg]
    """A table whose rows the delivery layer writes."""

    def rows(self, partition: int) -> RowsOfPartition:
        """The rows of one partition."""
        return RowsOfPartition(cast(PartitionStore, self.data), TP(self.changelog_topic_name, partition))

    def _new_store(self) -> PartitionStore:
        return PartitionStore(
            "rocksdb://",
            self.app,
            self,
            table_name=self.name,
            key_type=self.key_type,
            key_serializer=self.key_serializer,
            value_serializer=self.value_serializer,
            value_type=self.value_type,
            loop=self.loop,
            options=dict(ROCKSDB_OPTIONS),
        )
