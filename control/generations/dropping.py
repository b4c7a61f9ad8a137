"""Drops a generation through the log.

A marker in each partition invalidates extractions that were begun before, even if they arrive later. Then an empty extraction follows the
last one of each window, and the stages retract exactly what that one published. Therefore a rebuild does not restore it either.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from control import ControlWriter, Draft, read_control
from control.generations.reading import generation_name, has_content, records_of, workers_of
from control.tenant_changes import count_drop
from memory.headers import GENERATION_DROP, KIND
from memory.keys import distinct_key, remarked_key
from memory.records import Extraction, GenerationDrop
from memory.texts.text import counted
from memory.topics import EXTRACTIONS
from runtime.kafka import ConsumerGroups, KafkaOffsets, OutgoingRecord, Producer, TopicPartition
from runtime.settings import Settings


async def drop(settings: Settings, tenant: str, generation: str, *, by: str, notice: Callable[[str], None] = lambda line: None) -> int:
    """Retracts everything that a generation has published.

    Args:
        settings: The settings.
        tenant: The tenant.
        generation: The generation; empty: the first.
        by: The actor, for the audit log.
        notice: Called with lines of progress.

    Returns:
        The number of retracted windows. The running stages process the retractions.

    Raises:
        ChangeRefusedError: If the tenant has no such generation, it is live, or a re-extraction builds it.
        UnknownTenantError: If there is no such tenant.
        GroupInUseError: If a second worker builds it.
        KafkaUnavailableError: If no broker answers.
    """
    count_drop(Draft(await read_control(settings)), tenant, generation)  # its refusal says more than that a worker runs
    await require_no_workers(settings, generation)
    written = await ControlWriter(settings=settings).write(
        lambda draft: count_drop(draft, tenant, generation), action="generation drop", by=by
    )
    retracted = await retract(settings, tenant, generation, drops=written.result)
    notice(f"the running stages will retract {counted(retracted, 'window')} of generation {generation_name(generation)}")
    return retracted


async def require_no_workers(settings: Settings, generation: str, *, wait: bool = True) -> None:
    """Checks that no second worker builds a generation.

    Args:
        settings: The settings.
        generation: The generation; empty: the first.
        wait: Whether to wait until the broker has removed a killed worker.

    Raises:
        GroupInUseError: If a worker runs.
        KafkaUnavailableError: If no broker answers.
    """
    await ConsumerGroups(kafka=settings.kafka).require_empty([workers_of(settings, generation)], wait=wait)


async def retract(settings: Settings, tenant: str, generation: str, *, drops: int) -> int:
    """Writes the retractions of a generation, once the control log counts its drop; idempotent.

    Args:
        settings: The settings.
        tenant: The tenant.
        generation: The generation; empty: the first.
        drops: Number of drops of the generation, including this one.

    Returns:
        The number of retracted windows.

    Raises:
        KafkaUnavailableError: If no broker answers.
    """
    return await retract_all(settings, generation, drops={tenant: drops})


async def retract_all(settings: Settings, generation: str, *, drops: Mapping[str, int]) -> int:
    """Like :func:`retract`, for several tenants with one reading of the log.

    Args:
        settings: The settings.
        generation: The generation; empty: the first.
        drops: By tenant, the number of drops of the generation, including this one.

    Returns:
        The number of retracted windows.

    Raises:
        KafkaUnavailableError: If no broker answers.
    """
    topic = settings.topic(EXTRACTIONS.name)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        partitions = list(await offsets.end_offsets([topic]))
    retractions = {tenant: Retractions(topic, drops=count) for tenant, count in drops.items()}
    async with Producer(kafka=settings.kafka) as producer:
        # Before the log is read: records after the markers are skipped; records before them are read and retracted here.
        for tenant, count in drops.items():
            await producer.send_many(_marks(partitions, GenerationDrop(tenant=tenant, generation=generation, drops=count)))
        async for record, extraction in records_of(Extraction, EXTRACTIONS, settings, drops):
            if extraction.generation == generation:
                retractions[extraction.tenant].add(extraction, key=record.key, partition=record.partition)
        records = [each for of_tenant in retractions.values() for each in of_tenant.records()]
        await producer.send_in_batches(records)
        return len(records)


def _marks(partitions: Sequence[TopicPartition], drop: GenerationDrop) -> list[OutgoingRecord]:
    """The markers of a drop, for each partition of the extractions."""
    parts, value = (drop.tenant, generation_name(drop.generation)), drop.to_json()
    return [
        OutgoingRecord(
            topic=partition.topic, key=distinct_key(*parts), value=value, partition=partition.partition, headers=((KIND, GENERATION_DROP),)
        )
        for partition in partitions
    ]


@dataclass(frozen=True, slots=True)
class _Newest:
    """The newest extraction of a window."""

    drops: int
    retraction: OutgoingRecord | None
    """The retraction of the window; None: there is nothing to retract."""


class Retractions:
    """Collects the retractions of a generation's windows from its extractions. Pure."""

    def __init__(self, topic: str, *, drops: int) -> None:
        self._topic = topic
        self._drops = drops
        self._newest: dict[str, _Newest] = {}

    def add(self, extraction: Extraction, *, key: bytes | None, partition: int) -> None:
        """Adds the generation's next extraction, with the key and partition of its record."""
        before = self._newest.get(extraction.window_id)
        # After an empty extraction under a changed schema, memories of removed types may still exist.
        may_have_memories = before is not None and before.retraction is not None and before.drops == extraction.drops
        retraction = None
        if extraction.drops < self._drops and (has_content(extraction) or may_have_memories):
            nothing = {"segments": [], "events": [], "patches": [], "dropped": [], "usage": [], "drops": self._drops}
            value = extraction.model_copy(update=nothing).to_json()
            again = None if key is None else remarked_key(key)
            retraction = OutgoingRecord(topic=self._topic, key=again, value=value, partition=partition)
        self._newest[extraction.window_id] = _Newest(extraction.drops, retraction)

    def records(self) -> list[OutgoingRecord]:
        """An empty extraction for each window that may still have memories, except for windows that were begun after the drop."""
        return [each.retraction for each in self._newest.values() if each.retraction is not None]
