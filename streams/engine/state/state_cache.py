"""State objects kept in memory, bounded by what they weigh."""

from collections import OrderedDict
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_OBJECT_BYTES: Final = 4096
"""What a state object weighs beside its row's bytes: measured of a session with a hundred remembered ids, the heaviest per byte."""


class StateCache(Generic[T]):
    """The least recently used state objects of one partition are evicted; each weighs as much as its row, and a constant.

    Args:
        max_bytes: What all of them may weigh; the newest one is kept whatever it weighs.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._objects: OrderedDict[bytes, tuple[T, int]] = OrderedDict()
        self._weight = 0

    def get(self, key: bytes) -> T | None:
        """The object of a key, if it is cached."""
        cached = self._objects.get(key)
        if cached is None:
            return None
        self._objects.move_to_end(key)
        return cached[0]

    def put(self, key: bytes, state: T, *, row_bytes: int) -> None:
        """Caches an object, and evicts those unused for longest.

        Args:
            key: Its key.
            state: The object.
            row_bytes: How large its row is.
        """
        self.drop(key)
        weight = _OBJECT_BYTES + row_bytes
        self._objects[key] = (state, weight)
        self._weight += weight
        while self._weight > self._max_bytes and len(self._objects) > 1:
            _, (_, evicted) = self._objects.popitem(last=False)
            self._weight -= evicted

    def drop(self, key: bytes) -> None:
        """Drops a key's object."""
        cached = self._objects.pop(key, None)
        if cached is not None:
            self._weight -= cached[1]
