"""Waits until a stage has handled what was written before a moment."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Final

from runtime.kafka import ConsumerGroups, KafkaOffsets, TopicPartition
from runtime.settings import Settings
from streams.errors import ErasureUnfinishedError
from streams.stages.catalog import StageSpec

_POLL_S: Final = 0.25
_TELL_S: Final = 5.0


class StageBarrier:
    """Waits until stages have handled given offsets."""

    def __init__(self, *, settings: Settings, patience_s: float, notice: Callable[[str], None]) -> None:
        self._settings = settings
        self._patience_s = patience_s
        self._notice = notice

    async def of(self, stage: StageSpec, offsets: Mapping[TopicPartition, int], *, suffix: str = "", may_be_missing: bool = False) -> None:
        """Returns when a stage has handled all records before these offsets of its source.

        Args:
            stage: The stage.
            offsets: By partition.
            suffix: Names the group of a second set of workers.
            may_be_missing: Whether a stage that has never run is not waited for.

        Raises:
            ErasureUnfinishedError: If that takes too long; says what to do.
        """
        group = stage.group(self._settings.kafka.topic_prefix, suffix)
        deadline, told = time.monotonic() + self._patience_s, time.monotonic()
        async with KafkaOffsets(kafka=self._settings.kafka) as known:
            if may_be_missing and not await known.committed_offsets(group, {each.topic for each in offsets}):
                return
            while left := await self._left(known, group, offsets):
                if time.monotonic() > deadline:
                    raise ErasureUnfinishedError(
                        f"{stage.name} has {left} records before it after {self._patience_s:g} s: start its workers, or see why they wait "
                        "(`varve status`); then run the command again, which goes on"
                    )
                if time.monotonic() - told > _TELL_S:
                    told = time.monotonic()
                    self._notice(f"waiting for {stage.name}: {left} records before it")
                await asyncio.sleep(_POLL_S)

    async def of_second_workers(self, stage: StageSpec, offsets: Mapping[TopicPartition, int], *, suffixes: list[str]) -> None:
        """The same for each second set of workers that is running; one that is stopped has nothing in work."""
        groups = {stage.group(self._settings.kafka.topic_prefix, each): each for each in suffixes}
        members = await ConsumerGroups(kafka=self._settings.kafka).members(list(groups))
        for group, suffix in groups.items():
            if members[group]:
                await self.of(stage, offsets, suffix=suffix)

    async def _left(self, known: KafkaOffsets, group: str, offsets: Mapping[TopicPartition, int]) -> int:
        committed = await known.committed_offsets(group, {each.topic for each in offsets})
        return sum(max(0, offset - committed.get(partition, 0)) for partition, offset in offsets.items())
