"""Measures how the time of a pure function grows with its input, and whether work leaves the event loop responsive."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

Input = TypeVar("Input")
Result = TypeVar("Result")

LINEAR: Final = 2.8
"""Largest growth per doubling of a linear function, with a margin for a busy machine. A quadratic function has 4."""
RESPONSIVE: Final = 300
"""Least iterations of a responsive event loop while a thread works for a tenth of a second or more."""
_LEAST_S: Final = 0.01
"""Shorter times are mostly noise and constant costs."""
_RUNS: Final = 3


def growth(work: Callable[[Input], object], build: Callable[[int], Input], *, size: int) -> float:
    """The factor by which the time of a call grows when its input doubles.

    Args:
        work: The function.
        build: Builds an input of a size.
        size: The smaller of the two sizes.
    """
    return _shortest(work, build(2 * size)) / max(_shortest(work, build(size)), _LEAST_S)


async def turns_during(work: Awaitable[Result]) -> tuple[Result, int]:
    """Awaits work, and counts the iterations of the event loop meanwhile: some dozens if it blocks the loop, else many hundreds.

    Args:
        work: Work that takes a tenth of a second or more.
    """
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.create_task(count())
    try:
        return await work, turns
    finally:
        counting.cancel()


def _shortest(work: Callable[[Input], object], given: Input) -> float:
    def run() -> float:
        started = time.thread_time()
        work(given)
        return time.thread_time() - started

    return min(run() for _ in range(_RUNS))
