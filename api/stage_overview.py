"""Lag, rate and freshness of each stage, read from Kafka when they are requested, with a short history of the rates."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from runtime.clocks import Clock
from runtime.errors import KafkaUnavailableError
from runtime.kafka import KafkaOffsets
from runtime.settings import Settings
from streams.operations.stage_progress import StageProgress, read_progress

LEAST_INTERVAL_S: Final = 2.0
"""Least time between two readings: requests within it get the same one."""
LONGEST_INTERVAL_S: Final = 60.0
"""A rate over a longer time is not a current rate."""
_KEPT: Final = 180


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The records per second that each stage committed between two readings."""

    at: datetime
    over_s: float
    """The time between the readings."""
    stages: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The progress of all stages at one time."""

    at: datetime
    stages: Sequence[StageProgress]
    history: Sequence[Rates]
    """The newest rates of this process, oldest first. The last ones belong to this reading, unless it is the first in a minute."""

    @property
    def rates(self) -> Rates | None:
        """The current rates. None: there was no reading shortly before."""
        return self.history[-1] if self.history and self.history[-1].at == self.at else None


class StageOverview:
    """Reads the progress of the stages. Without requests nothing is read.

    Args:
        settings: Kafka's address, and the prefix of the topics.
        clock: The time of a reading.
        monotonic: Measures the time between readings, in seconds.
    """

    def __init__(self, *, settings: Settings, clock: Clock, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._monotonic = monotonic
        self._offsets: KafkaOffsets | None = None
        self._reading = asyncio.Lock()
        self._last: Reading | None = None
        self._last_at = float("-inf")
        self._history: deque[Rates] = deque(maxlen=_KEPT)

    async def read(self) -> Reading:
        """The newest reading, at most :data:`LEAST_INTERVAL_S` old.

        Raises:
            KafkaUnavailableError: If no broker answers.
            TopicMissingError: If the topics have not been created.
        """
        async with self._reading:
            if self._last is not None and self._monotonic() - self._last_at < LEAST_INTERVAL_S:
                return self._last
            stages = await self._progress()
            self._last, self._last_at = self._reading_of(stages, self._monotonic()), self._monotonic()
            return self._last

    async def close(self) -> None:
        """Disconnects."""
        offsets, self._offsets = self._offsets, None
        if offsets is not None:
            await offsets.stop()

    async def _progress(self) -> list[StageProgress]:
        try:
            if self._offsets is None:
                offsets = KafkaOffsets(kafka=self._settings.kafka)
                await offsets.start()
                self._offsets = offsets
            return await read_progress(self._offsets, self._settings)
        except KafkaUnavailableError:
            # The next request connects again.
            await self.close()
            raise

    def _reading_of(self, stages: Sequence[StageProgress], now: float) -> Reading:
        at, over_s = self._clock.now(), now - self._last_at
        if self._last is not None and 0 < over_s <= LONGEST_INTERVAL_S:
            before = {each.name: each.committed for each in self._last.stages}
            # A recreated topic begins at 0 again.
            rates = {each.name: max(0, each.committed - before[each.name]) / over_s for each in stages}
            self._history.append(Rates(at=at, over_s=over_s, stages=rates))
        return Reading(at=at, stages=stages, history=tuple(self._history))
