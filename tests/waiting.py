"""Waits for a condition with a deadline. Only the standard library: scripts in the environments of other clients use it, too."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

T = TypeVar("T")

DEADLINE_S: Final = 120.0
_PAUSE_S: Final = 0.05


def until(read: Callable[[], T], accepts: Callable[[T], bool] = bool, *, deadline_s: float = DEADLINE_S) -> T:
    """Reads until a value is accepted, and returns it.

    Args:
        read: Reads the value.
        accepts: Whether it is the one that is waited for. Default: it is true.
        deadline_s: Longest wait, in seconds.

    Raises:
        TimeoutError: If no value is accepted by then.
    """
    end = time.monotonic() + deadline_s
    while not accepts(found := read()):
        _check(end, deadline_s, found)
        time.sleep(_PAUSE_S)
    return found


async def until_async(read: Callable[[], Awaitable[T]], accepts: Callable[[T], bool] = bool, *, deadline_s: float = DEADLINE_S) -> T:
    """Does the same with an asynchronous reader."""
    end = time.monotonic() + deadline_s
    while not accepts(found := await read()):
        _check(end, deadline_s, found)
        await asyncio.sleep(_PAUSE_S)
    return found


def _check(end: float, deadline_s: float, found: object) -> None:
    if time.monotonic() > end:
        raise TimeoutError(f"not within {deadline_s:g} s; last: {found!r}")
