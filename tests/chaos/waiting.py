"""Waits for a condition of a chaos run, with a deadline."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

_DEADLINE_S: Final = 120.0
_POLL_S: Final = 0.25


async def until(holds: Callable[[], Awaitable[bool]], what: str) -> None:
    """Waits until a condition holds.

    Args:
        holds: The condition.
        what: It in words, for the error.

    Raises:
        RuntimeError: If the condition is not met within two minutes.
    """
    try:
        async with asyncio.timeout(_DEADLINE_S):
            while True:
                if await holds():
                    return
                await asyncio.sleep(_POLL_S)
    except TimeoutError as error:
        raise RuntimeError(f"waited {_DEADLINE_S:.0f} s in vain until {what}") from error


async def until_none_left(count: Callable[[], Awaitable[int]], what: str) -> None:
    """Waits until nothing is left, as long as it becomes less: how long that takes depends on the machine.

    Args:
        count: Counts what is left.
        what: What holds then, for the error.

    Raises:
        RuntimeError: If it does not become less within two minutes.
    """
    left = await count()
    while left:

        async def is_less(before: int = left) -> bool:
            nonlocal left
            left = await count()
            return left < before

        await until(is_less, f"{what} ({left} left)")
