"""Runs a stage again from an earlier place of its topic, into the same ids: a repair.

What each stage makes of a record that it has seen before:

* ``extraction`` extracts the window again, which costs a model call unless its answer is cached; ``events`` takes back what the window laid
  down before and lays down the new.
* ``events`` sends what stands of a window again, with the positions it had; of a window that was extracted again, only the newest.
* ``entities`` applies nothing twice, and publishes again what the entities are.
* ``index`` writes the memories again, in the order of the feed.
* ``sessions`` cannot begin in the middle: what was in the open windows there is not known any more. Replayed whole, with its state dropped,
  it closes the same windows, as long as the rules of :class:`runtime.settings.SessionSettings` are the same.

A replay only ever goes back: what a group has not seen yet, it still sees.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from runtime.kafka import ConsumerGroups, KafkaOffsets, TopicPartition, check_topics
from runtime.settings import Settings
from streams.changelog import empty_changelog
from streams.delivery.folders import remove_folders, tables_folder
from streams.errors import ReplayRefusedError, StreamError
from streams.stages import STAGES, StageSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayStart:
    """From where on. Without time and offset: from the beginning."""

    time: datetime | None = None
    """Records produced at this moment or later (aware; the producers' clock)."""
    offset: int | None = None
    partition: int | None = None
    """Only this partition; None: all."""

    def __post_init__(self) -> None:
        if self.time is not None and self.offset is not None:
            raise ValueError("a replay starts at a time or at an offset, not at both")
        if self.time is not None and self.time.tzinfo is None:
            raise ValueError(f"the time needs a zone, got {self.time.isoformat()}; add one, for example Z")

    @property
    def whole(self) -> bool:
        """Whether it is everything."""
        return self.time is None and not self.offset and self.partition is None


@dataclass(frozen=True, slots=True)
class Moved:
    """Where one partition of a group goes on, and where it would have."""

    before: int
    after: int


async def replay(
    settings: Settings, stage_name: str, start: ReplayStart, *, notice: Callable[[str], None] = lambda line: None
) -> dict[TopicPartition, Moved]:
    """Sets a stage back; its workers, started again, carry the replay out.

    Args:
        settings: The settings in force. The stage's workers are stopped; the others may run.
        stage_name: Which stage.
        start: From where on.
        notice: Told in one line what was done.

    Returns:
        The partitions that were set back; none where the group has not come that far.

    Raises:
        StreamError: If there is no such stage.
        GroupInUseError: If a worker of the stage runs.
        ReplayRefusedError: If a replay from there would not be sound; says why, and what would be.
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If a topic is missing.
    """
    if stage_name not in STAGES:
        raise StreamError(f"there is no stage {stage_name!r}; the stages are {', '.join(STAGES)}")
    stage = STAGES[stage_name]
    if stage_name == "sessions" and not start.whole:
        raise ReplayRefusedError(
            "sessions can only be replayed from the beginning of its messages: the windows that were open at a later place are not "
            "known any more; to repair windows from there on, replay extraction"
        )
    kafka = settings.kafka
    partitions = await check_topics(settings)
    if start.partition is not None and not 0 <= start.partition < partitions:
        raise ReplayRefusedError(
            f"{settings.topic(stage.source.name)} has {partitions} partitions, there is none numbered {start.partition}"
        )
    groups = ConsumerGroups(kafka=kafka)
    await groups.require_empty([stage.group(kafka.topic_prefix)])
    async with KafkaOffsets(kafka=kafka) as offsets:
        if stage_name == "sessions":
            await _drop_sessions(settings, stage, offsets, notice)
        if stage_name == "entities":
            await _require_caught_up(settings, offsets)
        moved = await _moves(settings, stage, start, offsets)
        await groups.commit(stage.group(kafka.topic_prefix), {place: move.after for place, move in moved.items()})
    for place, move in sorted(moved.items()):
        notice(f"{place.topic}/{place.partition}: from {move.before} back to {move.after}")
    return moved


async def _moves(settings: Settings, stage: StageSpec, start: ReplayStart, offsets: KafkaOffsets) -> dict[TopicPartition, Moved]:
    topic = settings.topic(stage.source.name)
    committed = await offsets.committed_offsets(stage.group(settings.kafka.topic_prefix), [topic])
    wanted = await _wanted(topic, start, offsets)
    return {
        place: Moved(committed[place], offset)
        for place, offset in wanted.items()
        if start.partition in (None, place.partition) and committed.get(place, 0) > offset
    }


async def _wanted(topic: str, start: ReplayStart, offsets: KafkaOffsets) -> Mapping[TopicPartition, int]:
    beginnings = await offsets.beginning_offsets([topic])
    if start.time is not None:
        return await offsets.offsets_since([topic], start.time)
    return {place: max(beginning, start.offset or 0) for place, beginning in beginnings.items()}


async def _drop_sessions(settings: Settings, stage: StageSpec, offsets: KafkaOffsets, notice: Callable[[str], None]) -> None:
    topic = settings.topic(stage.source.name)
    if any((await offsets.beginning_offsets([topic])).values()):
        raise ReplayRefusedError(f"{topic} no longer begins at offset 0: its windows would get other numbers and messages than they had")
    rows = await empty_changelog(stage.changelog(settings.kafka.topic_prefix), kafka=settings.kafka)
    remove_folders(tables_folder(settings.data, stage.name))
    notice(f"sessions: {rows} rows dropped")


async def _require_caught_up(settings: Settings, offsets: KafkaOffsets) -> None:
    # In the middle of a rebuild the contributions of before would be read in front of the lower positions that still come.
    for name in ("events", "entities"):
        stage = STAGES[name]
        lag = sum((await offsets.lag(stage.group(settings.kafka.topic_prefix), [settings.topic(stage.source.name)])).values())
        if lag:
            raise ReplayRefusedError(
                f"{name} has {lag} records before it, and may be in the middle of a rebuild: let it catch up (`varve status`), "
                "then try again"
            )
