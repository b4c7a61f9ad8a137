"""Work on many items in pieces; the event loop runs other tasks between them."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

T = TypeVar("T")
R = TypeVar("R")

PIECE_S: Final = 0.0005
"""Approximate duration of a piece: a request passes through the event loop a dozen times, and may wait for a piece each time."""
LONG_PIECE_S: Final = 0.05
"""Duration of a piece on an event loop without requests. Heartbeats run between the pieces: a batch that blocks the loop for longer than
the session timeout repeatedly costs the worker its partitions."""
TURNS_BETWEEN_PIECES: Final = 6
"""Iterations of the event loop; an idle one takes ten microseconds."""


async def map_in_pieces(function: Callable[[T], R], items: Iterable[T], *, monotonic: Callable[[], float] = time.perf_counter) -> list[R]:
    """The function's result for each item, in order.

    Args:
        function: The function; a call should take at most some hundreds of microseconds.
        items: The items, any number.
        monotonic: A monotonic clock, in seconds.
    """
    results: list[R] = []
    yielder = Yielder(piece_s=PIECE_S, monotonic=monotonic)
    for item in items:
        if yielder.is_due:
            await yielder.maybe_yield()
        results.append(function(item))
    return results


class Yielder:
    """Ends a piece of work when it has taken long enough.

    Args:
        piece_s: Duration of a piece, in seconds. Default: for an event loop without requests.
        monotonic: A monotonic clock, in seconds.
    """

    __slots__ = ("_ends_at", "_monotonic", "_piece_s")

    def __init__(self, *, piece_s: float | None = None, monotonic: Callable[[], float] = time.perf_counter) -> None:
        self._piece_s = LONG_PIECE_S if piece_s is None else piece_s
        self._monotonic = monotonic
        self._ends_at = monotonic() + self._piece_s

    @property
    def is_due(self) -> bool:
        """Whether the piece has taken long enough."""
        return self._monotonic() >= self._ends_at

    async def maybe_yield(self) -> None:
        """Yields to the event loop if it is time. Call it after each step of at most a few milliseconds."""
        if self.is_due:
            await yield_to_event_loop()
            self._ends_at = self._monotonic() + self._piece_s


_between_pieces: ContextVar[Callable[[], Awaitable[None]] | None] = ContextVar("between_pieces", default=None)


@contextmanager
def waiting_between_pieces(wait: Callable[[], Awaitable[None]]) -> Iterator[None]:
    """Additionally awaits ``wait`` between pieces, within the block and in the tasks that it starts.

    Args:
        wait: Returns when the next piece may begin.
    """
    before = _between_pieces.get()
    _between_pieces.set(wait)
    try:
        yield
    finally:
        _between_pieces.set(before)


async def yield_to_event_loop() -> None:
    """Ends a piece: runs all ready tasks, and those that become ready meanwhile.

    A request from a socket needs several iterations of the event loop until its handler runs; with one iteration the next piece would come
    first.
    """
    for _ in range(TURNS_BETWEEN_PIECES):
        await asyncio.sleep(0)
    wait = _between_pieces.get()
    if wait is not None:
        await wait()
