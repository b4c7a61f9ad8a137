"""State objects kept in memory, bounded by what they weigh."""

from collections import OrderedDict
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_OBJECT_BYTES: Final = 4096
"""What a state object weighs beside its row's bytes: measured of a session with a hundred remembered ids, the heaviest per byte."""


class StateCache(Generic[T]):
    """The most lately used state objects of one partition, each weighed by the bytes of its row.

    Args:
        max_bytes: What all of them may weigh; the newest one is kept whatever it weighs.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[bytes, tuple[T, int]] = OrderedDict()
        self._weight = 0

    def get(self, key: bytes) -> T | None:
        """The object of a key, if it is kept."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        self._kept.move_to_end(key)
        return kept[0]

    def put(self, key: bytes, state: T, *, row_bytes: int) -> None:
        """Keeps an object, and lets go of those unused for longest."""
        self.drop(key)
        weight = _OBJECT_BYTES + row_bytes
        self._kept[key] = (state, weight)
        self._weight += weight
        while self._weight > self._max_bytes and len(self._kept) > 1:
            _, (_, weight) = self._kept.popitem(last=False)
            self._weight -= weight

    def drop(self, key: bytes) -> None:
        """Lets go of a key's object."""
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._weight -= kept[1]
