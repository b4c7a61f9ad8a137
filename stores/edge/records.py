"""The records that were read last of a shard, kept: to read the payloads of candidates takes the engine half as long as to score them."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Final
from uuid import UUID

import qdrant_edge as edge

from stores.collection import RECORD
from stores.errors import StoreUnavailableError

_MOST: Final = 1 << 24
"""Characters of all records together: 37,000 records of 450 characters, for which Python takes 26 MB."""
_LONGEST: Final = 4096
"""In characters. The record of an entity of many messages would take the room of many others."""


class KeptRecords:
    """Records by the numbers of their points' ids. Whoever writes a point forgets its record first.

    Args:
        most: Characters that are kept, of all together.
    """

    def __init__(self, *, most: int = _MOST) -> None:
        self._most = most
        self._records: OrderedDict[int, str] = OrderedDict()
        self._characters = 0

    def of(self, ids: Sequence[UUID], read: Callable[[list[UUID]], Iterable[edge.Record]]) -> dict[int, str]:
        """The records of points, by the numbers of their ids.

        Args:
            ids: The points'.
            read: Reads those that are not kept.
        """
        found: dict[int, str] = {}
        missing: list[UUID] = []
        for each in ids:
            record = self._records.get(each.int)
            if record is None:
                missing.append(each)
            else:
                self._records.move_to_end(each.int)
                found[each.int] = record
        for point in read(missing) if missing else ():
            number, record = id_of(point).int, record_of(point)
            found[number] = record
            if len(record) <= _LONGEST:
                self._records[number] = record
                self._characters += len(record)
        while self._characters > self._most:
            self._characters -= len(self._records.popitem(last=False)[1])
        return found

    def forget(self, points: Iterable[edge.Point]) -> None:
        """Keeps the records of points no longer that are about to be written."""
        for each in points:
            self._characters -= len(self._records.pop(id_of(each).int, ""))

    def clear(self) -> None:
        """Keeps none."""
        self._records.clear()
        self._characters = 0


def id_of(point: edge.ScoredPoint | edge.Record | edge.Point) -> UUID:
    """A point's id. Its number makes the cheapest key: a UUID hashes, compares and prints itself in Python."""
    point_id = point.id  # the engine makes one each time
    assert isinstance(point_id, UUID), "points have UUIDs for their ids: memory.ids makes no others"
    return point_id


def record_of(point: edge.Record) -> str:
    """The memory's record, as a point's payload holds it.

    Raises:
        StoreUnavailableError: If the engine left it out.
    """
    payload = point.payload
    if payload is None:
        raise StoreUnavailableError(f"the engine gave point {point.id} without its record")
    return str(payload[RECORD])
