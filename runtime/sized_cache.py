"""Cache limited by size: a limit of entries is no bound if an entry may have 100 kilobytes."""

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Final, Generic, TypeVar, TypeVarTuple

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_EMPTY_BYTES: Final = sys.getsizeof("")


class SizedCache(Generic[K, T]):
    """Evicts the least recently used values. Not thread-safe.

    Args:
        max_bytes: Size limit of all values; the newest one always stays.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[K, tuple[T, int]] = OrderedDict()
        self._bytes = 0

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def get(self, key: K) -> T | None:
        """The value of a key; None if there is none."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: T, *, size: int) -> None:
        """Stores a value, and evicts those unused for longest.

        Args:
            key: The key.
            value: Its value.
            size: The value's size, in bytes.
        """
        self.drop(key)
        self._entries[key] = (value, size)
        self._bytes += size
        while self._bytes > self._max_bytes and len(self._entries) > 1:
            self._bytes -= self._entries.popitem(last=False)[1][1]

    def drop(self, key: K) -> None:
        """Removes a key's value."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry[1]


def sized_cache(*, most_bytes: int, entry_bytes: int, growth: int) -> Callable[[Callable[[*Ts], T]], Callable[[*Ts], T]]:
    """Decorates a pure function of texts, or of tuples of texts, with a thread-safe :class:`SizedCache`. The function never returns None.

    Args:
        most_bytes: Limit for the total size of arguments and values; the newest value is always kept.
        entry_bytes: Measured size of the value of an empty text.
        growth: Measured size that each byte of the arguments adds, itself included, for arguments with the most distinct words.
    """

    def decorated(function: Callable[[*Ts], T]) -> Callable[[*Ts], T]:
        cache: SizedCache[tuple[*Ts], T] = SizedCache(max_bytes=most_bytes)
        lock = Lock()

        @wraps(function)
        def remembered(*arguments: *Ts) -> T:
            with lock:
                found = cache.get(arguments)
            if found is not None:
                return found
            value = function(*arguments)
            with lock:
                cache.put(arguments, value, size=entry_bytes + growth * sum(map(_bytes_of, arguments)))
            return value

        return remembered

    return decorated


def _bytes_of(argument: object) -> int:
    if isinstance(argument, str):
        return sys.getsizeof(argument) - _EMPTY_BYTES
    return sum(map(_bytes_of, argument)) if isinstance(argument, tuple) else 0
