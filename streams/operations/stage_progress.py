"""Progress of each stage by the offsets of its consumer group: its lag, its parked records, and the age of its oldest record."""

import asyncio
import time
from dataclasses import dataclass

from runtime.kafka import KafkaOffsets, read_backlogs
from runtime.kafka.parked_note import ParkedNote
from runtime.settings import Settings
from streams.engine.tasks.offset_metadata import unfinished_command
from streams.stages.catalog import STAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class StageProgress:
    """A stage's progress at one time."""

    name: str
    lag: int
    """Uncommitted records in its topic."""
    committed: int
    """Records that it has committed since the topic was created."""
    parked: ParkedNote
    """Parked records: committed but not processed yet, waiting for their tenants' budgets or schemas."""
    oldest_s: float | None
    """Age of the oldest uncommitted record, in seconds; None: there is none."""
    retention_left_s: float | None
    """Seconds until Kafka may delete an uncommitted record; None: it deletes none."""
    unfinished: str | None
    """The interrupted command for which the workers wait; None: there is none."""


async def read_progress(offsets: KafkaOffsets, settings: Settings) -> list[StageProgress]:
    """The progress of all stages, in the order of the pipeline.

    Args:
        offsets: A started reader of offsets.
        settings: The settings, with the prefix of the topics.

    Raises:
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If the topics have not been created.
    """
    return list(await asyncio.gather(*(read_stage_progress(name, offsets, settings) for name in STAGES)))


async def read_stage_progress(name: str, offsets: KafkaOffsets, settings: Settings) -> StageProgress:
    """The progress of one stage; raises the errors of :func:`read_progress`.

    Args:
        name: The stage.
        offsets: A started reader of offsets.
        settings: The settings, with the prefix of the topics.
    """
    stage = STAGES[name]
    topic, group = settings.topic(stage.source.name), stage.group(settings.kafka.topic_prefix)
    commits = await offsets.commits(group, [topic])
    committed = {partition: entry.offset for partition, entry in commits.items()}
    ends = await offsets.end_offsets([topic])
    backlogs = await read_backlogs(group, topic, offsets)
    now_ms = round(time.time() * 1000)
    lefts = [left_s for backlog in backlogs.values() if (left_s := backlog.left_s(now_ms)) is not None]
    return StageProgress(
        name=name,
        lag=sum(max(0, end - committed.get(partition, 0)) for partition, end in ends.items()),
        committed=sum(committed.values()),
        parked=ParkedNote.sum([ParkedNote.read(entry.metadata) for entry in commits.values()]),
        oldest_s=max((backlog.age_s(now_ms) for backlog in backlogs.values()), default=None),
        retention_left_s=min(lefts, default=None),
        unfinished=unfinished_command(entry.metadata for entry in commits.values()),
    )
