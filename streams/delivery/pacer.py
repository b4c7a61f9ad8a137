"""How often a worker's processors make their work durable: all at the same moments, and the more seldom the more it costs."""

import asyncio
import math
import time
from typing import Final

_SHARE: Final = 0.25
"""Part of the time that may go into making batches durable."""

_MEMORY: Final = 0.8
"""Weight of the past in the mean cost of a batch."""


class Pacer:
    """Sets the beat at which the partition processors of one worker commit.

    Processors that commit at the same moment share the requests to the broker. When a batch takes long (a busy machine, a far broker), or
    the processor is behind, the beats come more seldom, the batches grow, and the cost per record falls: what is late need not hurry.

    Args:
        shortest_s: Least time between two beats, in seconds.
        longest_s: Most time between two beats: the bound on what this adds to a record's latency.
    """

    def __init__(self, *, shortest_s: float, longest_s: float) -> None:
        self._shortest_s = shortest_s
        self._longest_s = max(shortest_s, longest_s)
        self._cost_s = 0.0

    @property
    def interval_s(self) -> float:
        """Time between two beats now."""
        return min(self._longest_s, max(self._shortest_s, self._cost_s / _SHARE))

    def took(self, seconds: float) -> None:
        """A batch took so long to be made durable."""
        self._cost_s = _MEMORY * self._cost_s + (1 - _MEMORY) * seconds

    async def next_beat(self, since: float, *, behind: bool) -> None:
        """Waits for the next beat, unless the last batch began longer ago than one interval.

        Args:
            since: When it began, on the monotonic clock.
            behind: Whether the processor works on records that have lain for a while.
        """
        now = time.monotonic()
        interval = self._longest_s if behind else self.interval_s
        if interval > 0 and now - since < interval:
            await asyncio.sleep(math.ceil(now / interval) * interval - now)
