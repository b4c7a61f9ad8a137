"""Waits for a condition with a deadline. Only the standard library: scripts in the environments of other clients use it, too."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

T = TypeVar("T")

DEADLINE_S: Final = 240.0
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
    began = time.monotonic()
    end = began + deadline_s
    while not accepts(found := read()):
        _check(end, deadline_s, found)
        time.sleep(_pause_s(began))
        began = time.monotonic()
    return found


async def until_async(read: Callable[[], Awaitable[T]], accepts: Callable[[T], bool] = bool, *, deadline_s: float = DEADLINE_S) -> T:
    """Does the same with an asynchronous reader."""
    began = time.monotonic()
    end = began + deadline_s
    while not accepts(found := await read()):
        _check(end, deadline_s, found)
        await asyncio.sleep(_pause_s(began))
        began = time.monotonic()
    return found


def _pause_s(began: float) -> float:
    """The pause after a read: a read that asks servers for long would slow down what it waits for."""
    return max(_PAUSE_S, 3 * (time.monotonic() - began))


def _check(end: float, deadline_s: float, found: object) -> None:
    if time.monotonic() > end:
        raise TimeoutError(f"not within {deadline_s:g} s; last: {found!r}")
