"""Cache of state objects, bounded by size."""

from collections import OrderedDict
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_OBJECT_BYTES: Final = 4096
"""Size of a state object beyond its row's bytes: measured with a session of a hundred remembered ids, the heaviest per byte."""


class StateCache(Generic[T]):
    """Evicts the least recently used state objects of one partition; each counts its row's size plus a constant.

    Args:
        max_bytes: Size limit of all objects; the newest one always stays.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._objects: OrderedDict[bytes, tuple[T, int]] = OrderedDict()
        self._weight = 0

    def get(self, key: bytes) -> T | None:
        """The cached object of a key; None if there is none."""
        cached = self._objects.get(key)
        if cached is None:
            return None
        self._objects.move_to_end(key)
        return cached[0]

    def put(self, key: bytes, state: T, *, row_bytes: int) -> None:
        """Caches an object whose row has ``row_bytes`` bytes, and evicts those unused for longest."""
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
