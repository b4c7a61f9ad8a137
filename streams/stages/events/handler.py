"""The events stage: publishes a window's extraction, retracts the previous one, and distributes contributions by entity key."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from control.tenants import TenantDirectory
from memory.headers import (
    CORRECTION,
    ERASURE,
    EVOLUTION,
    EXPIRY,
    GENERATION_DROP,
    RETENTION,
    RETRACTION,
    TICK,
    TOUCHES,
    TRUST,
    TRUST_REVIEW,
    kind_of,
)
from memory.keys import encode_key, parts_of_key
from memory.records import Extraction, GenerationDrop, TrustReview
from memory.retention import Limits, reaches_entities, without_old_results
from memory.schema.model import MemorySchema
from memory.topic_records import read_extractions_record
from memory.topics import EXTRACTIONS, is_topic
from memory.trust import WindowTrust
from operators.entities.former_fields import former_part, present_part
from operators.entities.routing import contributions_of, left_out
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch, BatchHandler
from streams.stages.events.correcting import Corrector, valid_events
from streams.stages.events.corrections import PresentEvent, patches_in_force, present_events
from streams.stages.events.erasing import Eraser
from streams.stages.events.evolution import Evolver
from streams.stages.events.expiry import Expirer
from streams.stages.events.ledger import Ledger, amended_key, corrected_window, corrected_window_key, expired_events, published_key
from streams.stages.events.ledger_entries import AmendedWindow, DroppedGeneration, PublishedWindow
from streams.stages.events.places import in_earlier_place, source_of
from streams.stages.events.publishing import Publisher, fed_entities, with_trust
from streams.stages.events.record_handler import RecordHandler
from streams.stages.events.retaining import Retainer
from streams.stages.events.retracting import Retractor, amended_extraction
from streams.stages.events.trusting import TrustReviewer
from streams.stages.tenancy import is_erased, schema_of_record, tenant_of

_R = TypeVar("_R", bound=RecordHandler)
_Handler = Callable[[Batch, ConsumedRecord, Any], None]
"""Handles a record, given its value as the class of its kind (:data:`memory.topic_records.KINDS`)."""


class EventsHandler(BatchHandler):
    """Handles one partition of ``extractions`` strictly in order, so that its contributions reach an entity in order.

    Args:
        partition: Its number.
        settings: The settings in force.
        tenants: The known tenants, with their schemas.
        metrics: Counts events and patches that reach no entity.
    """

    def __init__(self, *, partition: int, settings: Settings, tenants: TenantDirectory, metrics: Metrics) -> None:
        self._partition = partition
        self._tenants = tenants
        self._metrics = metrics
        self._publisher = Publisher(settings)
        max_future = timedelta(seconds=settings.sessions.max_future_s)

        def create(handler: type[_R]) -> _R:
            return handler(partition=partition, publisher=self._publisher, tenants=tenants, metrics=metrics, max_future=max_future)

        self._eraser, self._expirer = create(Eraser), create(Expirer)
        self._retainer, self._reviewer = create(Retainer), create(TrustReviewer)
        self._tenant_handlers: Mapping[bytes | None, _Handler] = {
            GENERATION_DROP: self._drop,
            RETENTION: self._retainer.note,
            TRUST: self._reviewer.note,
            ERASURE: self._eraser.erase,
        }
        """Handlers of commands about a tenant or an erasure: no erasure covers these."""
        self._handlers: Mapping[bytes | None, _Handler] = {
            **self._tenant_handlers,
            None: self._extraction,
            TICK: self._expirer.tick,
            TOUCHES: self._expirer.touch,
            EXPIRY: self._expirer.expire,
            EVOLUTION: create(Evolver).evolve,
            RETRACTION: create(Retractor).retract,
            TRUST_REVIEW: self._review,
            CORRECTION: create(Corrector).correct,
        }
        """The handler of each kind of record."""

    async def handle(self, batch: Batch) -> None:
        """Handles extractions in the order of their log."""
        await batch.each(lambda record: self._record(batch, in_earlier_place(record)))

    def _record(self, batch: Batch, record: ConsumedRecord) -> None:
        if record.value is None:
            return  # the tombstone of an erased record
        kind = kind_of(record.headers)
        if kind not in self._tenant_handlers and self._is_erased(record):
            self._metrics.records.labels("events", "erased_record").inc()
            return
        value = read_extractions_record(kind, record.value)
        self._handlers[kind](batch, record, value)

    def _is_erased(self, record: ConsumedRecord) -> bool:
        parts = parts_of_key(record.key)
        if not parts:
            return False  # the producer used another key format: no erasure finds the record, so it is handled
        return is_erased(self._tenants, parts[0], parts[1] if len(parts) > 1 else None, record, EXTRACTIONS)

    def _drop(self, batch: Batch, record: ConsumedRecord, drop: GenerationDrop) -> None:
        """Records a drop: late results of earlier work are skipped."""
        if drop.drops > self._drops(batch, drop.tenant, drop.generation):
            key = _drops_key(drop.tenant, drop.generation)
            Ledger(batch.state).put(key, DroppedGeneration(drop.drops), position=record.offset)

    def _drops(self, batch: Batch, tenant: str, generation: str) -> int:
        dropped = Ledger(batch.state).get(_drops_key(tenant, generation), DroppedGeneration)
        return 0 if dropped is None else dropped.drops

    def _review(self, batch: Batch, record: ConsumedRecord, review: TrustReview) -> None:
        self._reviewer.review(batch, record, review, limits_for=partial(self._retainer.limits_for, batch))

    def _extraction(self, batch: Batch, record: ConsumedRecord, extraction: Extraction) -> None:
        """Publishes a window's extraction, unless a newer one is published already. A repeated one is emitted again."""
        if extraction.drops < self._drops(batch, extraction.tenant, extraction.generation):
            self._metrics.records.labels("events", "dropped_generation").inc()
            return
        schema = schema_of_record(self._tenants, extraction)
        ledger, offset = Ledger(batch.state), self._original_offset(record)
        previous = ledger.get(published_key(extraction.window_id, extraction.generation), PublishedWindow)
        if previous is not None and offset < previous.position:
            return
        if previous is not None and not _is_dropped(previous, extraction) and extraction.revision < previous.extraction.revision:
            # Extracted before a message was changed, and redriven after it.
            self._metrics.records.labels("events", "outdated_revision").inc()
            return
        amended = ledger.get(amended_key(extraction.tenant, extraction.window_id), AmendedWindow)
        if amended is not None:
            extraction = amended_extraction(extraction, amended.revisions)
        limits = self._retainer.limits_for(batch, extraction)
        extraction = without_old_results(extraction, limits)
        if previous is None or offset != previous.position:
            self._replace(batch, record, extraction, previous, schema=schema, limits=limits, amended=amended)
        elif _is_rewritten(extraction, previous):
            self._retainer.rewrite(batch, record, _published_part(extraction), previous, limits=limits)
        else:
            self._emit(batch, record, self._present_events(batch, extraction, previous.trust), previous)

    def _replace(
        self,
        batch: Batch,
        record: ConsumedRecord,
        extraction: Extraction,
        previous: PublishedWindow | None,
        *,
        schema: MemorySchema,
        limits: Limits,
        amended: AmendedWindow | None,
    ) -> None:
        """Publishes an extraction in place of the previous one of its window."""
        trust = self._reviewer.trust_of(batch, extraction)
        present = self._present_events(batch, extraction, trust)
        is_dropped = previous is not None and _is_dropped(previous, extraction)
        in_force = () if previous is None else (*previous.former, *previous.in_force())
        contributions = contributions_of(
            extraction.model_copy(update={"patches": patches_in_force(extraction.patches, present, trust)}),
            schema,
            events=valid_events(present),
            source=source_of(record, self._partition),
            position=record.offset,
            # A drop retracts everything. An extraction retracts what it replaces: data of types removed from the schema stays.
            previous=in_force if is_dropped else present_part(in_force, schema),
            cause="drop" if is_dropped and _is_empty(extraction) else "extraction",
            recorded_at=record.appended_at,
            may_reach=reaches_entities(extraction, limits) if limits else None,
        )
        published = PublishedWindow(
            self._original_offset(record),
            _published_part(extraction),
            tuple(with_trust(contributions, trust)),
            former=() if is_dropped else former_part(in_force, schema),
            trust=trust,
        )
        self._expirer.forget(batch, record, extraction.window_id, extraction.generation)
        self._emit(batch, record, present, published)
        for memory_id in sorted(set(previous.memory_ids if previous is not None else ()) - set(published.memory_ids)):
            self._publisher.tombstone(batch, record, extraction.tenant, memory_id)
        self._count_left_out(extraction, schema)
        if amended is not None and amended.erased:
            self._forget_wording(batch, record, published)
            if previous is not None and amended.may_be_quoted_by(previous.extraction):
                self._eraser.forget_superseded(batch, record, previous, amended.erased)
            published = published.without_retractions()
        if previous is None and extraction.retained is not None and _is_empty(extraction):
            return  # retention had removed everything, and a rebuild or a replay has the record again
        Ledger(batch.state).put(published_key(extraction.window_id, extraction.generation), published, position=record.offset)
        self._eraser.note(batch, record, extraction)

    def _present_events(self, batch: Batch, extraction: Extraction, trust: WindowTrust) -> list[PresentEvent]:
        """The events of a window with the corrections in force."""
        return present_events(extraction, corrected_window(batch.state, extraction.tenant, extraction.window_id), trust)

    def _forget_wording(self, batch: Batch, record: ConsumedRecord, published: PublishedWindow) -> None:
        """Removes the wording of earlier extractions from the corrections of a window that has lost an erased user's messages."""
        tenant, window_id = published.extraction.tenant, published.extraction.window_id
        before = corrected_window(batch.state, tenant, window_id)
        if not before.events:
            return
        ledger = Ledger(batch.state)
        others = {"", *(each.name for each in tenant_of(self._tenants, tenant).generations)} - {published.extraction.generation}
        found = (ledger.get(published_key(window_id, each), PublishedWindow) for each in sorted(others))
        after = before.as_extracted_again([published.extraction, *(each.extraction for each in found if each is not None)])
        if after != before:
            ledger.put(corrected_window_key(tenant, window_id), after, position=record.offset)

    def _original_offset(self, record: ConsumedRecord) -> int:
        """The extraction's first offset in this partition: a redriven one must not replace a newer one."""
        origin = record.origin
        # Offsets of a key's records only grow, also over a growth of the topics.
        return origin.offset if is_topic(EXTRACTIONS, origin.topic) else record.offset

    def _emit(self, batch: Batch, cause: ConsumedRecord, present: list[PresentEvent], published: PublishedWindow) -> None:
        """Emits a window's publication, without expired events. A repetition is harmless; a replay for repair relies on it."""
        expired = expired_events(batch.state, published.extraction.window_id, published.extraction.generation)
        fed = fed_entities(published.in_force())
        for present_event in present:
            if present_event.event.id in expired:
                continue
            self._publisher.event(batch, cause, present_event, published, fed=fed)
        self._publisher.contributions(batch, cause, published.contributions)

    def _count_left_out(self, extraction: Extraction, schema: MemorySchema) -> None:
        for dropped in left_out(extraction, schema):
            self._metrics.records.labels("events", f"left_out_{dropped.reason}").inc(dropped.count)


def _is_dropped(previous: PublishedWindow, extraction: Extraction) -> bool:
    """Whether the previous extraction of a window belongs to a generation that was dropped since."""
    return previous.extraction.drops < extraction.drops


def _is_empty(extraction: Extraction) -> bool:
    return not extraction.events and not extraction.patches


def _is_rewritten(extraction: Extraction, previous: PublishedWindow) -> bool:
    """Whether retention has rewritten an extraction since it was published."""
    return extraction.retained is not None and extraction.retained != previous.extraction.retained


def _published_part(extraction: Extraction) -> Extraction:
    return extraction.model_copy(update={"segments": [], "dropped": [], "usage": []})


def _drops_key(tenant: str, generation: str) -> bytes:
    # Three parts; a window's key has two.
    return encode_key("drops", tenant, generation or "-")
