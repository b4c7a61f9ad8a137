"""Cooperative multitasking: long work that awaits nothing yields to the event loop."""

import asyncio
import time
from typing import Final

_YIELD_INTERVAL_S: Final = 0.05


class Yielder:
    """Yields to the event loop every few dozen milliseconds.

    Heartbeats run on the same loop as the handlers: a batch that blocks it for longer than the session timeout repeatedly costs the worker
    its partitions.
    """

    def __init__(self) -> None:
        self._yielded_at = time.monotonic()

    async def maybe_yield(self) -> None:
        """Yields if it is time. Call it after each piece of work of a few milliseconds."""
        if time.monotonic() - self._yielded_at > _YIELD_INTERVAL_S:
            await asyncio.sleep(0)
            self._yielded_at = time.monotonic()
