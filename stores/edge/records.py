"""Cache of a shard's records. Reading the payloads of candidates takes the engine half as long as scoring them."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Final
from uuid import UUID

import qdrant_edge as edge

from stores.collection import RECORD
from stores.errors import StoreUnavailableError

_MAX_CHARACTERS: Final = 1 << 24
"""Total of all records: 37,000 records of 450 characters, which take 26 MB in Python."""
_MAX_RECORD_CHARACTERS: Final = 4096
"""Longer records are not cached: an entity with many messages would evict many others."""


class RecordCache:
    """LRU cache of records by the numbers of their points' ids. A writer calls :meth:`forget` before it writes a point."""

    def __init__(self, *, max_characters: int = _MAX_CHARACTERS) -> None:
        self._max_characters = max_characters
        self._records: OrderedDict[int, str] = OrderedDict()
        self._characters = 0

    def of(self, ids: Sequence[UUID], read: Callable[[list[UUID]], Iterable[edge.Record]]) -> dict[int, str]:
        """The records of points, by the numbers of their ids. ``read`` reads those that are not cached."""
        found: dict[int, str] = {}
        missing: list[UUID] = []
        for memory_id in ids:
            record = self._records.get(memory_id.int)
            if record is None:
                missing.append(memory_id)
            else:
                self._records.move_to_end(memory_id.int)
                found[memory_id.int] = record
        for point in read(missing) if missing else ():
            number, record = id_of(point).int, record_of(point)
            found[number] = record
            if len(record) <= _MAX_RECORD_CHARACTERS:
                self._records[number] = record
                self._characters += len(record)
        while self._characters > self._max_characters:
            self._characters -= len(self._records.popitem(last=False)[1])
        return found

    def forget(self, points: Iterable[edge.Point]) -> None:
        """Removes the records of points that are about to be written."""
        for point in points:
            self._characters -= len(self._records.pop(id_of(point).int, ""))

    def clear(self) -> None:
        """Removes all records."""
        self._records.clear()
        self._characters = 0


def id_of(point: edge.ScoredPoint | edge.Record | edge.Point) -> UUID:
    """A point's id. Its number is the cheapest key: a UUID hashes, compares and formats itself in Python."""
    point_id = point.id  # each access creates a new object
    assert isinstance(point_id, UUID), "the ids of points are UUIDs"
    return point_id


def record_of(point: edge.Record) -> str:
    """The memory's record in a point's payload.

    Raises:
        StoreUnavailableError: If the engine returned no payload.
    """
    payload = point.payload
    if payload is None:
        raise StoreUnavailableError(f"the engine returned point {point.id} without its record")
    return str(payload[RECORD])
