"""Drops a generation through the log.

A mark in each partition says that what was begun before counts no more, however late it comes. Then an empty extraction follows the last
one of each of its windows, and the stages retract exactly what that one published. So a rebuild finds it gone, too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from control import ControlWriter
from control.generations.names import generation_name, workers_of
from control.generations.reading import has_content, records_of
from control.tenant_changes import count_drop
from memory.headers import GENERATION_DROP, KIND
from memory.keys import distinct_key, remarked_key
from memory.records import Extraction, GenerationDrop
from memory.topics import EXTRACTIONS
from runtime.kafka import ConsumerGroups, KafkaOffsets, OutgoingRecord, Producer, TopicPartition
from runtime.settings import Settings


async def drop(settings: Settings, tenant: str, generation: str, *, by: str, notice: Callable[[str], None] = lambda line: None) -> int:
    """Retracts all that a generation has published.

    Args:
        settings: The settings in force.
        tenant: Whose.
        generation: Which; empty: the first.
        by: Who drops it, for the audit.
        notice: Called with a line of progress.

    Returns:
        How many windows were retracted. The running stages carry it out.

    Raises:
        ChangeRefusedError: If it is the live one.
        UnknownTenantError: If there is no such tenant.
        GroupInUseError: If a second worker makes it.
        KafkaUnavailableError: If no broker answers.
    """
    await require_no_workers(settings, generation)
    counted = await ControlWriter(settings=settings).write(
        lambda draft: count_drop(draft, tenant, generation), action="generation drop", by=by
    )
    retracted = await retract(settings, tenant, generation, drops=counted.result)
    notice(f"{retracted} windows of generation {generation_name(generation)} are taken back as the stages go on")
    return retracted


async def require_no_workers(settings: Settings, generation: str, *, wait: bool = True) -> None:
    """Returns where nobody makes a generation beside the live workers.

    Args:
        settings: The settings in force.
        generation: Which; empty: the first.
        wait: Whether to wait for a worker that was killed to be counted out.

    Raises:
        GroupInUseError: If somebody does.
        KafkaUnavailableError: If no broker answers.
    """
    await ConsumerGroups(kafka=settings.kafka).require_empty([workers_of(settings, generation)], wait=wait)


async def retract(settings: Settings, tenant: str, generation: str, *, drops: int) -> int:
    """Writes what takes a generation back, once the control log counts its drop. Harmless when repeated.

    Args:
        settings: The settings in force.
        tenant: Whose.
        generation: Which; empty: the first.
        drops: How often it has been dropped, this time included.

    Returns:
        How many windows were retracted.

    Raises:
        KafkaUnavailableError: If no broker answers.
    """
    topic = settings.topic(EXTRACTIONS.name)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        partitions = list(await offsets.end_offsets([topic]))
    gathered = Retractions(topic, drops=drops)
    async with Producer(kafka=settings.kafka) as producer:
        # Before the log is read: what lies behind the marks is passed over, what lies before them is read and retracted.
        await producer.send_many(_marks(partitions, GenerationDrop(tenant=tenant, generation=generation, drops=drops)))
        async for record, extraction in records_of(Extraction, EXTRACTIONS, settings, tenant):
            if extraction.generation == generation:
                gathered.add(extraction, key=record.key, partition=record.partition)
        retractions = gathered.records()
        await producer.send_in_batches(retractions)
    return len(retractions)


def _marks(partitions: Sequence[TopicPartition], drop: GenerationDrop) -> list[OutgoingRecord]:
    """A drop's mark for each partition of the extractions."""
    parts, value = (drop.tenant, generation_name(drop.generation)), drop.to_json()
    return [
        OutgoingRecord(
            topic=each.topic, key=distinct_key(*parts), value=value, partition=each.partition, headers=((KIND, GENERATION_DROP),)
        )
        for each in partitions
    ]


@dataclass(frozen=True, slots=True)
class _Newest:
    """The newest extraction of a window."""

    drops: int
    retraction: OutgoingRecord | None
    """What takes the window back; None: nothing is to be."""


class Retractions:
    """What takes a generation's windows back, gathered from its extractions. Pure.

    Args:
        topic: Where extractions lie.
        drops: How often the generation has been dropped, this time included.
    """

    def __init__(self, topic: str, *, drops: int) -> None:
        self._topic = topic
        self._drops = drops
        self._newest: dict[str, _Newest] = {}

    def add(self, extraction: Extraction, *, key: bytes | None, partition: int) -> None:
        """Takes note of the generation's next extraction.

        Args:
            extraction: What lies there.
            key: Its record's key.
            partition: Where it lies.
        """
        before = self._newest.get(extraction.window_id)
        # What a schema has no more stays where a later extraction under it is empty.
        may_stand = before is not None and before.retraction is not None and before.drops == extraction.drops
        retraction = None
        if extraction.drops < self._drops and (has_content(extraction) or may_stand):
            nothing = {"segments": [], "events": [], "patches": [], "dropped": [], "usage": [], "drops": self._drops}
            value = extraction.model_copy(update=nothing).to_json()
            again = None if key is None else remarked_key(key)
            retraction = OutgoingRecord(topic=self._topic, key=again, value=value, partition=partition)
        self._newest[extraction.window_id] = _Newest(extraction.drops, retraction)

    def records(self) -> list[OutgoingRecord]:
        """An empty extraction of each window of which something may stand, but of those that were begun behind the drop."""
        return [each.retraction for each in self._newest.values() if each.retraction is not None]
