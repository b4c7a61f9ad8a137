"""Waits until a stage has handled the records that an operation has sent to it."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import Final

from memory.positions import LogPosition
from memory.texts.text import counted
from runtime.kafka import ConsumerGroups, KafkaOffsets, TopicPartition
from runtime.settings import Settings
from streams.errors import StageBehindError
from streams.stages.catalog import StageSpec

BATCH: Final = 500
"""Records that an operation sends before it waits for the stage, or looks at the control log again."""
_POLL_S: Final = 0.25
_NOTICE_INTERVAL_S: Final = 5.0


class StageBarrier:
    """Waits until stages have handled given offsets.

    Args:
        settings: The settings in force.
        patience_s: How long one stage may take, in seconds.
        notice: Called with a line of progress while a stage has records left.
        offsets: A started reader of offsets, for operations that wait several times. Default: each wait starts one.
    """

    def __init__(
        self, *, settings: Settings, patience_s: float, notice: Callable[[str], None], offsets: KafkaOffsets | None = None
    ) -> None:
        self._settings = settings
        self._offsets = offsets
        self._patience_s = patience_s
        self._notice = notice

    async def of(self, stage: StageSpec, offsets: Mapping[TopicPartition, int], *, suffix: str = "", may_be_missing: bool = False) -> None:
        """Waits until a stage has handled all records of its source before these offsets.

        Args:
            stage: The stage.
            offsets: By partition.
            suffix: Suffix of the group's name, for a second set of workers.
            may_be_missing: Whether to return at once if the stage has never run.

        Raises:
            StageBehindError: If the wait takes too long.
        """
        await self._wait(stage, offsets, suffix=suffix, may_be_missing=may_be_missing, may_stop=False)

    async def _wait(
        self, stage: StageSpec, offsets: Mapping[TopicPartition, int], *, suffix: str, may_be_missing: bool, may_stop: bool
    ) -> None:
        group = stage.group(self._settings.kafka.topic_prefix, suffix)
        deadline, last_notice = time.monotonic() + self._patience_s, time.monotonic()
        async with KafkaOffsets(kafka=self._settings.kafka) if self._offsets is None else nullcontext(self._offsets) as known:
            if may_be_missing and not await known.committed_offsets(group, {each.topic for each in offsets}):
                return
            while left := await self._left(known, group, offsets):
                if time.monotonic() > deadline:
                    raise StageBehindError(
                        f"{stage.name} still has {counted(left, 'record')} to handle after {self._patience_s:g} s: start its workers, or "
                        "see why they wait (`varve status`); then run the command again to continue"
                    )
                if may_stop and not (await ConsumerGroups(kafka=self._settings.kafka, admin=known.admin).members([group]))[group]:
                    return
                if time.monotonic() - last_notice > _NOTICE_INTERVAL_S:
                    last_notice = time.monotonic()
                    self._notice(f"waiting for {stage.name}: {counted(left, 'record')} to handle")
                await asyncio.sleep(_POLL_S)

    async def of_second_workers(self, stage: StageSpec, offsets: Mapping[TopicPartition, int], *, suffixes: list[str]) -> None:
        """Waits for each second set of workers that is running, until it stops. A stopped one handles nothing."""
        groups = {stage.group(self._settings.kafka.topic_prefix, each): each for each in suffixes}
        members = await ConsumerGroups(kafka=self._settings.kafka).members(list(groups))
        for group, suffix in groups.items():
            if members[group]:
                await self._wait(stage, offsets, suffix=suffix, may_be_missing=False, may_stop=True)

    async def _left(self, known: KafkaOffsets, group: str, offsets: Mapping[TopicPartition, int]) -> int:
        committed = await known.committed_offsets(group, {each.topic for each in offsets})
        return sum(max(0, offset - committed.get(partition, 0)) for partition, offset in offsets.items())


def ends_after(positions: Iterable[LogPosition]) -> dict[TopicPartition, int]:
    """The offset after the last of the records, per partition."""
    found: dict[TopicPartition, int] = {}
    for each in positions:
        partition = TopicPartition(each.topic, each.partition)
        found[partition] = max(found.get(partition, 0), each.offset + 1)
    return found
