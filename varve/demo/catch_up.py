"""Waits until every stage has done all that lies before it: by offsets, not by time."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from runtime.kafka import KafkaOffsets
from runtime.settings import Settings
from streams.stages import STAGES, StageSpec
from varve.errors import StalledError

POLL_S: Final = 0.1
STALL_S: Final = 180.0

Progress = Callable[[str, int], None]


class CatchUp:
    """Follows the stages' commits.

    A stage's outputs are durable before it commits the record they come from. So once a stage has committed all of its topic, the ends of
    the next stage's topics are final, as far as this stage goes: one pass in the order of the flow suffices, but for records that a stage
    sends back (timers, ticks). Passes are repeated until one finds nothing new.

    Args:
        settings: Where Kafka is.
        stall_s: A stage that commits nothing for so long while records wait is given up, in seconds.
        progress: Told each stage and how many records it still has before it, whenever that changes.
    """

    def __init__(self, *, settings: Settings, stall_s: float = STALL_S, progress: Progress = lambda stage, lag: None) -> None:
        if stall_s <= 0:
            raise ValueError(f"stall_s must be above 0, got {stall_s}")
        self._settings = settings
        self._stall_s = stall_s
        self._progress = progress

    async def wait(self) -> None:
        """Returns when all stages have caught up.

        Raises:
            StalledError: If a stage does not get on; names it.
            KafkaUnavailableError: If no broker answers.
        """
        async with KafkaOffsets(kafka=self._settings.kafka) as offsets:
            before: dict[str, int] | None = None
            while True:
                for stage in STAGES.values():
                    await self._wait_for(stage, offsets)
                ends = {name: await self._end(stage, offsets) for name, stage in STAGES.items()}
                if ends == before:
                    return
                before = ends

    async def _wait_for(self, stage: StageSpec, offsets: KafkaOffsets) -> None:
        group, topics = stage.group(self._settings.kafka.topic_prefix), self._topics(stage)
        shown: int | None = None
        moved = time.monotonic()
        while True:
            lag = sum((await offsets.lag(group, topics)).values())
            if lag != shown:
                shown, moved = lag, time.monotonic()
                self._progress(stage.name, lag)
            if lag == 0:
                return
            if time.monotonic() - moved > self._stall_s:
                raise StalledError(
                    f"the stage {stage.name} has not moved for {self._stall_s:.0f} s with {lag} records before it: see its log"
                )
            await asyncio.sleep(POLL_S)

    async def _end(self, stage: StageSpec, offsets: KafkaOffsets) -> int:
        return sum((await offsets.end_offsets(self._topics(stage))).values())

    def _topics(self, stage: StageSpec) -> list[str]:
        return [self._settings.topic(source.name) for source in stage.sources]
