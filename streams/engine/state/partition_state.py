"""Keyed state of one partition: objects in memory, rows in RocksDB. Every change is durable in the changelog first.

A row, on disk and in the changelog, is eight bytes with the offset of the source record that last changed it, then the stage's own bytes.
With the offset, recovery can reject a row that a stale worker wrote late: offsets of one partition only grow.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from runtime.sized_cache import SizedCache
from streams.errors import StreamError

_POSITION_BYTES: Final = 8
OBJECT_BYTES: Final = 4096
"""Size of a state object beyond its row's bytes: measured with a session of a hundred remembered ids, the heaviest per byte."""

TABLE: Final = "state"
"""Name of a stage's only table."""

T = TypeVar("T")


def changelog_topic(group: str) -> str:
    """The topic of the changelog of a group's table, named as Faust names it."""
    return f"{group}-{TABLE}-changelog"


@dataclass(frozen=True, slots=True)
class StateChange:
    """A changed row; a ``value`` of None deletes it."""

    key: bytes
    value: bytes | None


class RowStore(Protocol):
    """Local table of one partition."""

    def read(self, key: bytes) -> bytes | None:
        """The row's bytes, with the offset."""
        ...

    def scan(self) -> Iterator[tuple[bytes, bytes]]:
        """All rows."""
        ...

    def scan_from(self, key: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The rows from a key on, sorted by key."""
        ...

    def write(self, rows: list[StateChange], changelog_offset: int) -> None:
        """Writes rows and the changelog's offset in one atomic batch."""
        ...


class Codec(Protocol[T]):
    """Serialization of a stage's state."""

    def encode(self, state: T) -> bytes:
        """The bytes of a state. Equal states give equal bytes."""
        ...

    def decode(self, raw: bytes) -> T:
        """The state that :meth:`encode` wrote."""
        ...


def pack(position: int, payload: bytes) -> bytes:
    """A row's bytes."""
    return position.to_bytes(_POSITION_BYTES, "big") + payload


def unpack(row: bytes) -> tuple[int, bytes]:
    """Offset and payload of a row."""
    return int.from_bytes(row[:_POSITION_BYTES], "big"), row[_POSITION_BYTES:]


def is_stale(row: bytes, stored: bytes | None) -> bool:
    """Whether a changelog row is older than the stored one, because a stale worker wrote it late."""
    return stored is not None and row[:_POSITION_BYTES] < stored[:_POSITION_BYTES]


class PartitionState(Generic[T]):
    """State by key, with a bounded cache, changed in atomic steps.

    Objects may be changed in place between :meth:`get` and :meth:`put`; :meth:`discard` drops every object that was handed out.

    Args:
        rows: The partition's local table.
        codec: Serialization of the state.
        cache_bytes: Size limit of the cached objects. An object counts its row's size plus a constant.
    """

    def __init__(self, rows: RowStore, codec: Codec[T], *, cache_bytes: int) -> None:
        self._rows = rows
        self._codec = codec
        self._cache: SizedCache[bytes, T] = SizedCache(max_bytes=cache_bytes)
        self._touched: set[bytes] = set()
        self._dirty: dict[bytes, tuple[int, T | None]] = {}
        self._discards = 0

    @property
    def discards(self) -> int:
        """Number of discarded steps. When it changes, a handler must forget what it remembers of the last step."""
        return self._discards

    def get(self, key: bytes) -> T | None:
        """The state of a key, including the changes of the current step."""
        if key in self._dirty:
            return self._dirty[key][1]
        state = self._cache.get(key)
        if state is None:
            row = self._rows.read(key)
            if row is None:
                return None
            state = self._codec.decode(unpack(row)[1])
            self._cache.put(key, state, size=OBJECT_BYTES + len(row))
        self._touched.add(key)
        return state

    def put(self, key: bytes, state: T, *, position: int) -> None:
        """Changes the state of a key in the current step.

        Args:
            key: The key.
            state: Its new state.
            position: The offset of the source record.
        """
        self._dirty[key] = (position, state)

    def delete(self, key: bytes, *, position: int) -> None:
        """Removes a key in the current step."""
        self._dirty[key] = (position, None)

    def changes(self) -> list[StateChange]:
        """The rows that the current step changes, for the changelog."""
        return [
            StateChange(key, None if state is None else pack(position, self._codec.encode(state)))
            for key, (position, state) in self._dirty.items()
        ]

    def commit(self, rows: list[StateChange], changelog_offset: int) -> None:
        """Ends the step: its rows are durable in the changelog up to that offset."""
        if rows:
            self._rows.write(rows, changelog_offset)
        for row, (_, state) in zip(rows, self._dirty.values(), strict=True):
            if row.value is None or state is None:
                self._cache.drop(row.key)
            else:
                self._cache.put(row.key, state, size=OBJECT_BYTES + len(row.value))
        self._end_step()

    def discard(self) -> None:
        """Discards the current step."""
        for key in self._touched | self._dirty.keys():
            self._cache.drop(key)
        self._discards += 1
        self._end_step()

    def scan(self) -> Iterator[tuple[bytes, T]]:
        """All keys and states, as last committed."""
        for key, row in self._rows.scan():
            yield key, self._codec.decode(unpack(row)[1])

    def scan_prefix(self, prefix: bytes) -> Iterator[tuple[bytes, T]]:
        """Keys with a prefix and their states, as last committed, sorted by key."""
        for key, row in self._rows.scan_from(prefix):
            if not key.startswith(prefix):
                return
            yield key, self._codec.decode(unpack(row)[1])

    def _end_step(self) -> None:
        self._touched.clear()
        self._dirty.clear()


class NullStore:
    """Codec and rows of a stage without a table: reads find nothing, writes fail."""

    def encode(self, state: None) -> bytes:
        """Returns no bytes."""
        return b""

    def decode(self, raw: bytes) -> None:
        """Returns None."""

    def read(self, key: bytes) -> bytes | None:
        """Returns None."""
        return None

    def scan(self) -> Iterator[tuple[bytes, bytes]]:
        """Yields nothing."""
        return iter(())

    def scan_from(self, key: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yields nothing."""
        return iter(())

    def write(self, rows: list[StateChange], changelog_offset: int) -> None:
        """Refuses: there is no table.

        Raises:
            StreamError: The handler changed state.
        """
        raise StreamError(f"this stage keeps no state, but its handler changed {len(rows)} rows")
