"""Work on many items, in pieces between which the event loop runs others."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

T = TypeVar("T")
R = TypeVar("R")

ITEMS_IN_PIECE: Final = 16
"""At tens of microseconds each, a piece takes less than a millisecond: a request passes through the event loop a dozen times."""
TURNS_BETWEEN_PIECES: Final = 6
"""Turns of the event loop; an idle one takes ten microseconds."""


async def map_in_pieces(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """What a function makes of each item, in order.

    Args:
        function: Takes some tens of microseconds.
        items: Any number.
    """
    results: list[R] = []
    for number, item in enumerate(items, 1):
        results.append(function(item))
        if number % ITEMS_IN_PIECE == 0:
            await let_others_run()
    return results


async def let_others_run() -> None:
    """Ends a piece: whatever is ready runs, and what becomes ready by it.

    What arrives on a socket takes several turns of the event loop until it is in work. In one turn, the next piece would come first.
    """
    for _ in range(TURNS_BETWEEN_PIECES):
        await asyncio.sleep(0)
