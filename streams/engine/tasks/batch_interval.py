"""How long the processors of a worker let a batch grow: all commit at the same moments, and the less often the more a commit costs."""

import asyncio
import math
import time
from typing import Final

_COMMIT_SHARE: Final = 0.25
"""Part of the time that may go into making batches durable."""

_SMOOTHING: Final = 0.8
"""Weight of the past in the moving average of a batch's cost."""


class BatchInterval:
    """The time between two batches of a partition, which adapts to what a batch costs.

    Processors that commit at the same moment share the requests to the broker. When a batch takes long (a busy machine, a far broker), or
    the processor is behind, the interval grows, the batches grow with it, and the cost per record falls: what is late need not hurry.

    Args:
        minimum_s: Least time between two batches, in seconds.
        maximum_s: Most time between two batches: the bound on what this adds to a record's latency.
    """

    def __init__(self, *, minimum_s: float, maximum_s: float) -> None:
        self._minimum_s = minimum_s
        self._maximum_s = max(minimum_s, maximum_s)
        self._cost_s = 0.0

    @property
    def seconds(self) -> float:
        """The interval now."""
        return min(self._maximum_s, max(self._minimum_s, self._cost_s / _COMMIT_SHARE))

    def record_cost(self, seconds: float) -> None:
        """A batch took so long to be handled and made durable."""
        self._cost_s = _SMOOTHING * self._cost_s + (1 - _SMOOTHING) * seconds

    async def wait(self, since: float, *, is_behind: bool) -> None:
        """Waits for the end of the interval, unless the last batch began longer ago than one.

        Args:
            since: When it began, on the monotonic clock.
            is_behind: Whether the processor works on records that have lain for a while.
        """
        now = time.monotonic()
        interval = self._maximum_s if is_behind else self.seconds
        if interval > 0 and now - since < interval:
            await asyncio.sleep(math.ceil(now / interval) * interval - now)
