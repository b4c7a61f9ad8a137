"""Cache for pure functions of texts, limited by size: a limit of entries is no bound if a text may have 100 kilobytes."""

import sys
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Final, TypeVar, TypeVarTuple

Ts = TypeVarTuple("Ts")
T = TypeVar("T")

_EMPTY_BYTES: Final = sys.getsizeof("")


def sized_cache(*, most_bytes: int, entry_bytes: int, growth: int) -> Callable[[Callable[[*Ts], T]], Callable[[*Ts], T]]:
    """Decorates a function of texts, or of tuples of texts, with a thread-safe LRU cache.

    Args:
        most_bytes: Limit for the total size of arguments and values; the newest value is always kept.
        entry_bytes: Measured size of the value of an empty text.
        growth: Measured size that each byte of the arguments adds, itself included, for arguments with the most distinct words.
    """

    def decorated(function: Callable[[*Ts], T]) -> Callable[[*Ts], T]:
        kept: OrderedDict[tuple[*Ts], tuple[T, int]] = OrderedDict()
        lock = Lock()
        weight = 0

        @wraps(function)
        def remembered(*arguments: *Ts) -> T:
            nonlocal weight
            with lock:
                found = kept.get(arguments)
                if found is not None:
                    kept.move_to_end(arguments)
                    return found[0]
            value = function(*arguments)
            added = entry_bytes + growth * sum(map(_bytes_of, arguments))
            with lock:
                if arguments not in kept:
                    kept[arguments] = value, added
                    weight += added
                    while weight > most_bytes and len(kept) > 1:
                        weight -= kept.popitem(last=False)[1][1]
            return value

        return remembered

    return decorated


def _bytes_of(argument: object) -> int:
    if isinstance(argument, str):
        return sys.getsizeof(argument) - _EMPTY_BYTES
    return sum(map(_bytes_of, argument)) if isinstance(argument, tuple) else 0
