"""Whether this worker may still write: its generation is the group's, and it has not been asleep.

A process that was stopped for longer than the session time-out is a zombie: others own its partitions, and its own clients do not know
it yet. It cannot ask anyone before its first write, but it can see that its own heartbeat has missed.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

_HEARTBEAT_INTERVAL_S: Final = 0.25


class Membership:
    """The worker's right to write.

    Args:
        generation: The consumer group's generation, as last heard.
        session_timeout_s: A heartbeat missed for so long makes a zombie.
        clock: Monotonic seconds.
    """

    def __init__(self, *, generation: Callable[[], int], session_timeout_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._generation = generation
        self._session_timeout_s = session_timeout_s
        self._clock = clock
        self._last_heartbeat = clock()
        self.is_zombie = False
        """It has slept through its session: it must leave, and never write again."""

    def may_write(self, generation: int) -> bool:
        """Whether what was delivered under that generation may be written now."""
        return not self._has_slept() and self._generation() == generation

    async def run_heartbeat(self) -> None:
        """Beats until it finds that it has slept."""
        while not self._has_slept():
            self._last_heartbeat = self._clock()
            await asyncio.sleep(_HEARTBEAT_INTERVAL_S)

    def _has_slept(self) -> bool:
        if self._clock() - self._last_heartbeat > self._session_timeout_s:
            self.is_zombie = True
        return self.is_zombie
