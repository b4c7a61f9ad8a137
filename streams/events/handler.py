"""The events stage: publishes what a window gave, retracts what its last extraction gave, and fans out by entity key."""

from memory.headers import GENERATION_DROP, KIND
from memory.keys import encode_key
from memory.records import Event, Extraction, GenerationDrop, Memory, MemoryChange
from memory.schema.model import MemorySchema
from operators.routing import contributions_of, left_out
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import Settings
from runtime.tenants import TenantDirectory
from streams.delivery.batch import Batch, BatchHandler
from streams.delivery.records import ConsumedRecord
from streams.events.ledger import DroppedGeneration, PublishedWindow
from streams.tenancy import schema_of_record


class EventsHandler(BatchHandler):
    """Handles one partition of ``extractions``, strictly in order, so that contributions from it reach an entity in its order.

    Args:
        partition: Its number.
        settings: The settings in force.
        tenants: Who is known, with which schema.
        metrics: Where events and patches that reach no entity are counted.
    """

    def __init__(self, *, partition: int, settings: Settings, tenants: TenantDirectory, metrics: Metrics) -> None:
        self._source = f"extractions/{partition}"
        self._extractions_topic = settings.topic("extractions")
        self._memories_topic = settings.topic("memories")
        self._contributions_topic = settings.topic("contributions")
        self._tenants = tenants
        self._metrics = metrics

    async def handle(self, batch: Batch) -> None:
        """Handles extractions in the order of their log."""
        await batch.each(lambda record: self._record(batch, record))

    def _record(self, batch: Batch, record: ConsumedRecord) -> None:
        if (KIND, GENERATION_DROP) in record.headers:
            self._drop(batch, record)
        else:
            self._extraction(batch, record)

    def _drop(self, batch: Batch, record: ConsumedRecord) -> None:
        """Remembers a drop: what was begun before it may still come, however late, and is passed over."""
        drop = GenerationDrop.from_json(record.value or b"")
        if drop.drops > self._drops(batch, drop.tenant, drop.generation):
            batch.state.put(_drops_key(drop.tenant, drop.generation), DroppedGeneration(drop.drops), position=record.offset)

    def _drops(self, batch: Batch, tenant: str, generation: str) -> int:
        dropped: DroppedGeneration | None = batch.state.get(_drops_key(tenant, generation))
        return 0 if dropped is None else dropped.drops

    def _extraction(self, batch: Batch, record: ConsumedRecord) -> None:
        extraction = Extraction.from_json(record.value or b"")
        if extraction.drops < self._drops(batch, extraction.tenant, extraction.generation):
            self._metrics.records.labels("events", "dropped_generation").inc()
            return
        schema = schema_of_record(
            self._tenants,
            extraction.tenant,
            extraction.generation,
            name=extraction.schema_name,
            revision=extraction.schema_revision,
        )
        key = encode_key(extraction.window_id, extraction.generation or "-")
        previous: PublishedWindow | None = batch.state.get(key)
        offset = self._original_offset(record)
        if previous is not None and offset < previous.position:
            return
        if previous is not None and offset == previous.position:
            self._emit(batch, record, extraction, previous)
            return
        contributions = contributions_of(
            extraction,
            schema,
            source=self._source,
            position=record.offset,
            previous=previous.contributions if previous is not None else (),
        )
        ids = tuple(event.id for event in extraction.events)
        published = PublishedWindow(offset, ids, tuple(contributions))
        self._emit(batch, record, extraction, published)
        for memory_id in sorted(set(previous.memory_ids if previous is not None else ()) - set(ids)):
            batch.emit(OutgoingRecord(self._memories_topic, encode_key(extraction.tenant, memory_id), None), record)
        self._count_left_out(extraction, schema)
        batch.state.put(key, published, position=record.offset)

    def _original_offset(self, record: ConsumedRecord) -> int:
        """The offset at which the extraction first lay in this partition: a redriven one must not replace a newer one."""
        origin = record.origin
        return origin.offset if (origin.topic, origin.partition) == (self._extractions_topic, record.partition) else record.offset

    def _emit(self, batch: Batch, cause: ConsumedRecord, extraction: Extraction, published: PublishedWindow) -> None:
        """Emits what is published for a window. A repetition is harmless; a replay for repair relies on it."""
        for event in extraction.events:
            memory = memory_of(event, extraction, version=published.position)
            change = MemoryChange(op="upsert", memory_id=memory.id, tenant=extraction.tenant, memory=memory)
            batch.emit(OutgoingRecord(self._memories_topic, encode_key(extraction.tenant, memory.id), change.to_json()), cause)
        for contribution in published.contributions:
            target = encode_key(contribution.tenant, contribution.entity_type, contribution.entity_key)
            batch.emit(OutgoingRecord(self._contributions_topic, target, contribution.to_json()), cause)

    def _count_left_out(self, extraction: Extraction, schema: MemorySchema) -> None:
        for dropped in left_out(extraction, schema):
            self._metrics.records.labels("events", f"left_out_{dropped.reason}").inc(dropped.count)


def _drops_key(tenant: str, generation: str) -> bytes:
    # Three parts, where a window's key has two.
    return encode_key("drops", tenant, generation or "-")


def memory_of(event: Event, extraction: Extraction, *, version: int) -> Memory:
    """The memory that an event becomes.

    Args:
        event: The event.
        extraction: The extraction that it comes from.
        version: The memory's version.
    """
    return Memory(
        id=event.id,
        tenant=event.tenant,
        user=event.user,
        kind="event",
        type=event.type,
        content=event.content,
        properties=event.properties,
        keywords=event.keywords,
        importance=event.importance,
        event_time=event.event_time,
        session=event.session,
        window_id=event.window_id,
        turn=extraction.message_ids.index(event.message_ids[0]) if event.message_ids[0] in extraction.message_ids else None,
        message_ids=event.message_ids,
        extractor=event.extractor,
        generation=extraction.generation,
        version=version,
    )
