"""Measures how the time of a pure function grows with its input, and whether work leaves the event loop responsive."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

Input = TypeVar("Input")
Result = TypeVar("Result")

LINEAR: Final = 2.8
"""Largest growth per doubling of a linear function, with a margin for a busy machine. A quadratic function has 4."""
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


async def share_of_turns(work: Awaitable[Result]) -> tuple[Result, float]:
    """Awaits work, and measures the longest time between two turns of another task as a share of the whole time.

    Args:
        work: Work that takes long.
    """
    longest = 0.0

    async def turns() -> None:
        nonlocal longest
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    other = asyncio.create_task(turns())
    started = time.perf_counter()
    try:
        result = await work
    finally:
        other.cancel()
    return result, longest / (time.perf_counter() - started)


def _shortest(work: Callable[[Input], object], given: Input) -> float:
    def run() -> float:
        started = time.thread_time()
        work(given)
        return time.thread_time() - started

    return min(run() for _ in range(_RUNS))
