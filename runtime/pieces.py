"""Work on many items, in pieces between which the event loop runs others."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

T = TypeVar("T")
R = TypeVar("R")

PIECE_S: Final = 0.0005
"""About how long a piece takes: a request passes through the event loop a dozen times, and may find one each time."""
TURNS_BETWEEN_PIECES: Final = 6
"""Turns of the event loop; an idle one takes ten microseconds."""


async def map_in_pieces(function: Callable[[T], R], items: Iterable[T], *, monotonic: Callable[[], float] = time.perf_counter) -> list[R]:
    """What a function makes of each item, in order.

    Args:
        function: Takes a few to some hundreds of microseconds.
        items: Any number.
        monotonic: A clock in seconds that never goes back.
    """
    results: list[R] = []
    ends_at = monotonic() + PIECE_S
    for item in items:
        if monotonic() >= ends_at:
            await let_others_run()
            ends_at = monotonic() + PIECE_S
        results.append(function(item))
    return results


_between_pieces: ContextVar[Callable[[], Awaitable[None]] | None] = ContextVar("between_pieces", default=None)


@contextmanager
def waiting_between_pieces(wait: Callable[[], Awaitable[None]]) -> Iterator[None]:
    """Within the block, and in the tasks that it starts, this is waited for between pieces, too.

    Args:
        wait: Returns when the next piece may begin.
    """
    before = _between_pieces.get()
    _between_pieces.set(wait)
    try:
        yield
    finally:
        _between_pieces.set(before)


async def let_others_run() -> None:
    """Ends a piece: whatever is ready runs, and what becomes ready by it.

    What arrives on a socket takes several turns of the event loop until it is in work. In one turn, the next piece would come first.
    """
    for _ in range(TURNS_BETWEEN_PIECES):
        await asyncio.sleep(0)
    wait = _between_pieces.get()
    if wait is not None:
        await wait()
