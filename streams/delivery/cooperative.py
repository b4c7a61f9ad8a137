"""Work that takes long without waiting for anything, done so that the loop turns meanwhile."""

import asyncio
import time
from typing import Final

_LONGEST_S: Final = 0.05


class Yielder:
    """Lets the event loop turn every few dozen milliseconds.

    Heartbeats run on the same loop as the handlers: a batch that held it for longer than the session time-out would cost the worker its
    partitions, again and again.
    """

    def __init__(self) -> None:
        """As if the loop had just turned."""
        self._last = time.monotonic()

    async def maybe_yield(self) -> None:
        """To be called after each piece of work, of at most some milliseconds."""
        if time.monotonic() - self._last > _LONGEST_S:
            await asyncio.sleep(0)
            self._last = time.monotonic()
