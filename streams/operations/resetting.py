"""Resets the offsets of stopped stages and drops their state. After a kill at any moment, the same command completes the reset.

No transaction covers a group's offsets, its changelog and the stores. So a command that drops state takes these steps:

1. It checks that no other such command and no worker runs: their groups have no members, no worker of this machine holds a folder. It
   takes each partition's transactional id, which ends open transactions of a frozen or killed worker.
2. :meth:`StageReset.begin` commits the new offsets, with the name of the command as metadata. The broker refuses this if a worker has
   joined. From then on a worker that is assigned a partition waits, and only the same command may change the group.
3. The command drops the state. It can repeat all of this.
4. :meth:`StageReset.finish` removes the names.

A command that only moves offsets needs one commit (:meth:`StageReset.move`).
"""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from aiokafka.structs import OffsetAndMetadata

from memory.topics import CONTROL
from runtime.errors import TopicMissingError
from runtime.kafka import ConsumerGroups, KafkaOffsets, OutgoingRecord, Producer, TopicPartition, read_topic
from runtime.kafka.transactional import TransactionalProducer
from runtime.settings import KafkaSettings, Settings
from streams.engine.state.folders import held_folders, tables_folder
from streams.engine.tasks.checkpointer import transactional_id
from streams.engine.tasks.offset_metadata import OffsetMetadata, unfinished_command
from streams.errors import ReplayRefusedError, WorkersRunningError
from streams.stages.catalog import StageSpec

FOLDER_PATIENCE_S: Final = 10.0
"""How long a worker of this machine may take to end after it has left its group."""
_POLL_S: Final = 0.25
_FENCED_AT_ONCE: Final = 8
_GROUP: Final = "resetting"
"""The group of the processes that reset stages."""
_DOING: Final = "resets stages (`varve replay`, `varve rebuild` or `varve topics grow`)"


class StageReset:
    """Stages whose workers are stopped, and the command that resets them. Created by :func:`resetting`.

    Args:
        settings: The settings in force.
        command: The command line, without ``varve``.
        offsets: Reads offsets; started.
        folders: The locked folders of each stage's workers on this machine.
        is_repair: Whether the same command was killed before its end.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        command: str,
        offsets: KafkaOffsets,
        folders: Mapping[str, list[Path]],
        is_repair: bool,
    ) -> None:
        self._settings = settings
        self._command = command
        self._groups = ConsumerGroups(kafka=settings.kafka)
        self._folders = folders
        self._targets: dict[str, tuple[StageSpec, Mapping[TopicPartition, int]]] = {}
        self.offsets = offsets
        """Reads offsets."""
        self.is_repair = is_repair
        """Whether the same command was killed before its end: reasons to refuse it then no longer apply."""

    @property
    def unfinished(self) -> list[str]:
        """The stages whose workers wait for the end of the command."""
        return [*self._targets]

    async def move(self, stage: StageSpec, offsets: Mapping[TopicPartition, int | OffsetAndMetadata]) -> None:
        """Sets a stage's offsets, and changes nothing else.

        Raises:
            GroupInUseError: A worker has joined its group.
            KafkaUnavailableError: No broker responds.
        """
        await self._groups.commit(stage.group(self._settings.kafka.topic_prefix), offsets)

    async def begin(self, stage: StageSpec, targets: Mapping[TopicPartition, int]) -> None:
        """Sets a stage's offsets, and makes its workers wait until :meth:`finish`.

        Args:
            stage: The stage.
            targets: The next offset of each partition of its source.

        Raises:
            GroupInUseError: A worker has joined its group.
            KafkaUnavailableError: No broker responds.
        """
        note = OffsetMetadata(unfinished=self._command).text
        await self.move(stage, {partition: OffsetAndMetadata(offset, note) for partition, offset in targets.items()})
        self._targets[stage.name] = (stage, targets)

    async def empty_table(self, stage: StageSpec) -> int:
        """Empties a stage's table for all its workers; raises as :func:`streams.operations.resetting.empty_changelog`.

        Returns:
            The number of rows.
        """
        return await empty_changelog(stage.changelog(self._settings.kafka.topic_prefix), kafka=self._settings.kafka)

    def remove_local_tables(self, stage: StageSpec) -> None:
        """Removes a stage's tables on this machine; workers restore them from the changelog."""
        for folder in self._folders[stage.name]:
            shutil.rmtree(folder)

    async def finish(self, stage: StageSpec) -> None:
        """Lets a stage's workers continue.

        Raises:
            GroupInUseError: A worker has joined its group. It waits: stop it, and run the command again.
            KafkaUnavailableError: No broker responds.
        """
        _, targets = self._targets[stage.name]
        await self.move(stage, targets)
        del self._targets[stage.name]


@asynccontextmanager
async def resetting(
    settings: Settings,
    stages: Collection[StageSpec],
    *,
    command: str,
    stopped: Collection[StageSpec] | None = None,
    guard: Callable[[], Awaitable[None]] | None = None,
    notice: Callable[[str], None] = lambda line: None,
) -> AsyncIterator[StageReset]:
    """Ensures that no worker and no other such command runs, for the length of a block.

    Args:
        settings: The settings in force.
        stages: The stages that the command resets.
        command: The command line, without ``varve``.
        stopped: Stages whose workers must be stopped. Default: ``stages``.
        guard: Raises if the command may not begin now. Not called for a repair, which must always be possible. Default: no condition.
        notice: Called with a line if a worker is still ending, and if the command ends early and workers wait for it.

    Raises:
        GroupInUseError: A worker or another such command runs.
        WorkersRunningError: A worker of this machine holds its folder, but is not in a group yet.
        ReplayRefusedError: Another command was killed before its end, and must be run again first.
        KafkaUnavailableError: No broker responds.
    """
    kafka = settings.kafka
    stopped = stages if stopped is None else stopped
    groups = ConsumerGroups(kafka=kafka)
    # A second operator's command would drop what workers have restored since the first one's end.
    is_alone = groups.alone_in(f"{kafka.topic_prefix}{_GROUP}", settings.topic(CONTROL.name), doing=_DOING)
    async with is_alone, KafkaOffsets(kafka=kafka) as offsets:
        # Before the workers: the reason to wait is worth more than the request to stop workers, which the wait may need.
        if guard is not None and not await _is_repair(settings, stages, command, offsets):
            await guard()
        await groups.require_empty([stage.group(kafka.topic_prefix) for stage in stopped])
        with ExitStack() as locks:
            folders = {stage.name: await _held(tables_folder(settings.data, stage.name), locks, notice) for stage in stopped}
            is_repair = await _is_repair(settings, stages, command, offsets)
            for stage in stages:
                await _fence(settings, stage, offsets)
            reset = StageReset(settings, command=command, offsets=offsets, folders=folders, is_repair=is_repair)
            try:
                yield reset
            except BaseException:
                if reset.unfinished:
                    notice(f"the workers of {', '.join(reset.unfinished)} wait until `varve {command}` has run to its end: run it again")
                raise


async def _held(parent: Path, locks: ExitStack, notice: Callable[[str], None]) -> list[Path]:
    """Locks the folders of a stage's workers on this machine. A worker that has left its group may still be ending."""
    deadline, is_noticed = time.monotonic() + FOLDER_PATIENCE_S, False
    while True:
        try:
            return locks.enter_context(held_folders(parent))
        except WorkersRunningError:
            if time.monotonic() > deadline:
                raise
        if not is_noticed:
            notice(f"waiting for a worker that uses {parent} to end")
        is_noticed = True
        await asyncio.sleep(_POLL_S)


async def _is_repair(settings: Settings, stages: Collection[StageSpec], command: str, offsets: KafkaOffsets) -> bool:
    found: set[str] = set()
    for stage in stages:
        commits = await offsets.commits(stage.group(settings.kafka.topic_prefix), [settings.topic(stage.source.name)])
        if (unfinished := unfinished_command(entry.metadata for entry in commits.values())) is not None:
            found.add(unfinished)
    if others := found - {command}:
        raise ReplayRefusedError(f"`varve {min(others)}` did not run to its end: run it again first")
    return bool(found)


async def _fence(settings: Settings, stage: StageSpec, offsets: KafkaOffsets) -> None:
    """Takes and releases the transactional id of each of a stage's partitions."""
    group, turns = stage.group(settings.kafka.topic_prefix), asyncio.Semaphore(_FENCED_AT_ONCE)

    async def fence(partition: TopicPartition) -> None:
        identity = transactional_id(group, partition.partition)
        producer = TransactionalProducer(kafka=settings.kafka, transactional_id=identity, partitions=settings.kafka.partitions)
        async with turns:
            try:
                await producer.start()
            finally:
                await producer.stop()

    await asyncio.gather(*(fence(each) for each in await offsets.end_offsets([settings.topic(stage.source.name)])))


async def empty_changelog(topic: str, *, kafka: KafkaSettings) -> int:
    """Writes a tombstone for every row that a changelog still has. Durable on return; idempotent.

    Args:
        topic: The changelog's name on the broker.
        kafka: The broker's settings.

    Returns:
        The number of rows; 0 if the stage has never run.

    Raises:
        KafkaUnavailableError: No broker responds.
    """
    rows: dict[tuple[TopicPartition, bytes], None] = {}
    try:
        async for record in read_topic(topic, kafka):
            row = (TopicPartition(topic, record.partition), record.key or b"")
            if record.value is None:
                rows.pop(row, None)
            else:
                rows[row] = None
    except TopicMissingError:
        return 0
    tombstones = [OutgoingRecord(topic=topic, key=key, value=None, partition=partition.partition) for partition, key in rows]
    async with Producer(kafka=kafka) as producer:
        await producer.send_in_batches(tombstones)
    return len(rows)
