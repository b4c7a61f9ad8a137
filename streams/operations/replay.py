"""Repeats a stage from an earlier offset of its topic, with the same ids, to repair its outputs.

A stage handles a repeated record as follows:

* ``extraction`` extracts the window again, which costs a model call unless its answer is cached. Then ``events`` retracts the window's
  previous publication and publishes the new one. While a tenant has parked windows, the repeated ones queue after them.
* ``events`` publishes a window again, with its old positions; of several extractions of a window, only the newest.
* ``entities`` applies nothing twice, and publishes the entities again.
* ``merging`` asks again, which costs a model call unless its answer is cached; entities that have the answer drop it.
* ``recalls`` touches no event that its state already has for that day.
* ``index`` writes the memories again, in feed order.
* ``sessions`` cannot start in the middle, since the windows that were open there are unknown. Replayed from the beginning, with
  its state dropped, it closes the same windows if :class:`runtime.settings.SessionSettings` are the same.

A replay only moves offsets backwards: it skips no unhandled record. After a killed replay of ``sessions``, the stage's workers wait until
it is run again (:mod:`streams.operations.resetting`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from aiokafka.structs import OffsetAndMetadata

from control.unfinished_erasures import require_no_erasure
from memory.texts.text import counted
from runtime.kafka import KafkaOffsets, TopicPartition, check_topics
from runtime.kafka.parked_note import ParkedNote
from runtime.settings import Settings
from streams.errors import ReplayRefusedError
from streams.operations.resetting import StageReset, resetting
from streams.stages.catalog import STAGES, StageSpec, stage_named


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayStart:
    """Start of a replay: a time or an offset; by default the beginning."""

    time: datetime | None = None
    """Records produced at this time or later (aware; the producers' clock)."""
    offset: int | None = None
    partition: int | None = None
    """Only this partition. Default: all."""

    def __post_init__(self) -> None:
        if self.time is not None and self.offset is not None:
            raise ValueError("a replay starts at a time or at an offset, not at both")
        if self.time is not None and self.time.tzinfo is None:
            raise ValueError(f"the time needs a zone, got {self.time.isoformat()}; add one, for example Z")

    @property
    def is_beginning(self) -> bool:
        """Whether it is the beginning of the whole topic."""
        return self.time is None and not self.offset and self.partition is None


@dataclass(frozen=True, slots=True)
class OffsetReset:
    """Committed offset of one partition, before and after."""

    before: int
    after: int
    parked: ParkedNote = field(default_factory=ParkedNote)
    """The stage's parked records of the partition: a replay leaves them parked."""


async def replay(
    settings: Settings,
    stage_name: str,
    start: ReplayStart,
    *,
    despite_erasures: bool = False,
    notice: Callable[[str], None] = lambda line: None,
) -> dict[TopicPartition, OffsetReset]:
    """Resets a stage's offsets. Its workers replay the records when they are started again.

    Args:
        settings: The settings in force. The stage's workers are stopped; others may run.
        stage_name: The stage.
        start: Start of the replay.
        despite_erasures: Replay even during an erasure, if the erasure cannot be finished without it.
        notice: Called with a line of progress.

    Returns:
        The reset partitions; empty if the group has not reached the start. All partitions if a killed replay is completed.

    Raises:
        StreamError: The stage does not exist.
        ErasureUnderWayError: An erasure is running. `index` can be replayed nevertheless: an erasure may wait for exactly that, and it
            writes no receipt before the index has handled its deletions.
        GroupInUseError: A worker of the stage runs.
        WorkersRunningError: A worker of this machine holds its folder, but is not in a group yet.
        ReplayRefusedError: A replay from there would give wrong results; the message has the reason and the remedy.
        KafkaUnavailableError: No broker responds.
        TopicMissingError: A topic is missing.
    """
    stage = stage_named(stage_name)
    if stage_name == "sessions" and not start.is_beginning:
        raise ReplayRefusedError(
            "sessions can only be replayed from the beginning of its messages: the windows that were open at a later offset are not "
            "known any more; to repair windows from there on, replay extraction"
        )
    partitions = await check_topics(settings)
    if start.partition is not None and not 0 <= start.partition < partitions:
        raise ReplayRefusedError(f"{settings.topic(stage.source.name)} has {partitions} partitions, none is numbered {start.partition}")
    is_free = despite_erasures or stage_name == "index"
    guard = None if is_free else partial(require_no_erasure, settings, f"a replay of {stage_name}")
    async with resetting(settings, [stage], command=f"replay {stage_name}", guard=guard, notice=notice) as reset:
        if stage_name == "sessions":
            resets = await _drop_sessions(settings, stage, reset, notice)
        else:
            resets = await _resets_of(settings, stage, await _target_offsets(settings, stage, start, reset.offsets), reset.offsets)
            if stage_name == "entities" and resets:
                await _require_caught_up(settings, reset.offsets)
            await reset.move(stage, {partition: OffsetAndMetadata(each.after, each.parked.text) for partition, each in resets.items()})
    for partition, each in sorted(resets.items()):
        stays = f"; {counted(each.parked.count, 'record')} parked as before" if each.parked.count else ""
        notice(f"{partition.topic}/{partition.partition}: from {each.before} back to {each.after}{stays}")
    return resets


async def _resets_of(
    settings: Settings, stage: StageSpec, targets: Mapping[TopicPartition, int], offsets: KafkaOffsets
) -> dict[TopicPartition, OffsetReset]:
    """The partitions whose group has passed the start."""
    commits = await offsets.commits(stage.group(settings.kafka.topic_prefix), [settings.topic(stage.source.name)])
    return {
        partition: OffsetReset(commits[partition].offset, target, ParkedNote.read(commits[partition].metadata))
        for partition, target in targets.items()
        if partition in commits and commits[partition].offset > target
    }


async def _target_offsets(settings: Settings, stage: StageSpec, start: ReplayStart, offsets: KafkaOffsets) -> Mapping[TopicPartition, int]:
    topic = settings.topic(stage.source.name)
    if start.time is not None:
        targets = await offsets.offsets_since([topic], start.time)
    else:
        beginnings = await offsets.beginning_offsets([topic])
        targets = {partition: max(beginning, start.offset or 0) for partition, beginning in beginnings.items()}
    return {partition: target for partition, target in targets.items() if start.partition in (None, partition.partition)}


async def _drop_sessions(
    settings: Settings, stage: StageSpec, reset: StageReset, notice: Callable[[str], None]
) -> dict[TopicPartition, OffsetReset]:
    topic = settings.topic(stage.source.name)
    beginnings = await reset.offsets.beginning_offsets([topic])
    if any(beginnings.values()) and not reset.is_repair:
        raise ReplayRefusedError(
            f"{topic} no longer begins at offset 0, because an erasure or a retention run has cut it: its windows would get other numbers "
            "and messages than they had. `varve rebuild` restores everything after the windows"
        )
    # If the log has lost its beginning since then, the workers stop at the gap.
    targets = dict.fromkeys(beginnings, 0)
    resets = await _resets_of(settings, stage, targets, reset.offsets)
    if reset.is_repair:
        notice("sessions: completing a replay that did not run to its end")
        resets = {partition: OffsetReset(0, 0) for partition in targets} | resets
    await reset.begin(stage, targets)
    notice(f"sessions: {counted(await reset.empty_table(stage), 'row')} dropped")
    reset.remove_local_tables(stage)
    await reset.finish(stage)
    return resets


async def _require_caught_up(settings: Settings, offsets: KafkaOffsets) -> None:
    # In the middle of a rebuild, older contributions with higher positions would be read before later ones with lower positions.
    for name in ("events", "entities"):
        stage = STAGES[name]
        lag = sum((await offsets.lag(stage.group(settings.kafka.topic_prefix), [settings.topic(stage.source.name)])).values())
        if lag:
            raise ReplayRefusedError(
                f"{name} has {counted(lag, 'record')} before it, and may be in the middle of a rebuild: let it catch up (`varve status`), "
                "then try again"
            )
