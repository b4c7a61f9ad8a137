"""Interval between the batches of a worker's partitions: all commit at the same moments, and less often if commits cost more."""

import asyncio
import math
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

_COMMIT_SHARE: Final = 0.25
"""Share of the time that may go into making batches durable."""

_SMOOTHING: Final = 0.8
"""Weight of the past in the moving average of a batch's cost."""


class BatchInterval:
    """Time between two batches of a partition, adapted to a batch's cost.

    Tasks that commit at the same moment share requests to the broker. If a batch takes long (busy machine, distant broker), or a task lags,
    the interval and the batches grow, and the cost per record falls: late records gain nothing from haste.

    Args:
        minimum_s: Minimum time between two batches, in seconds.
        maximum_s: Maximum time between two batches: the most that this adds to a record's latency.
    """

    def __init__(self, *, minimum_s: float, maximum_s: float) -> None:
        self._minimum_s = minimum_s
        self._maximum_s = max(minimum_s, maximum_s)
        self._cost_s = 0.0

    @property
    def seconds(self) -> float:
        """The current interval."""
        return min(self._maximum_s, max(self._minimum_s, self._cost_s / _COMMIT_SHARE))

    def record_cost(self, seconds: float) -> None:
        """Adds the time that a batch took to be handled and made durable."""
        self._cost_s = _SMOOTHING * self._cost_s + (1 - _SMOOTHING) * seconds

    async def wait(self, since: float, *, is_behind: bool, is_full: asyncio.Event) -> None:
        """Waits for the end of the interval, unless the last batch began longer ago.

        Args:
            since: Start of the last batch, on the monotonic clock.
            is_behind: Whether the task handles records that have waited for a while.
            is_full: Ends the wait: a full batch does not grow any more.
        """
        now = time.monotonic()
        interval = self._maximum_s if is_behind else self.seconds
        if interval > 0 and now - since < interval:
            with suppress(TimeoutError):
                async with asyncio.timeout(common_end(now, interval) - now):
                    await is_full.wait()


def common_end(now: float, interval_s: float) -> float:
    """The end of the current interval on the monotonic clock, the same for all tasks: intervals begin at multiples of their length."""
    return math.ceil(now / interval_s) * interval_s


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """Limits of one transaction, and the time between two."""

    max_records: int
    max_bytes: int
    interval: BatchInterval
