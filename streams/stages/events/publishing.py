"""Outputs of the events stage: memories, their tombstones, and contributions."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from memory.keys import encode_key
from memory.records import Change, Contribution, Memory
from memory.topics import CONTRIBUTIONS, MEMORIES
from memory.trust import WindowTrust
from runtime.kafka import OutgoingRecord
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.events.corrections import PresentEvent
from streams.stages.events.ledger import expired_events
from streams.stages.events.ledger_entries import PublishedWindow
from streams.stages.feed import tombstone_record, upsert_record


class Publisher:
    """Emits publications. A repetition is harmless, and a replay for repair relies on it.

    Args:
        settings: The settings in force.
    """

    def __init__(self, settings: Settings) -> None:
        self._memories_topic = settings.topic(MEMORIES.name)
        self._contributions_topic = settings.topic(CONTRIBUTIONS.name)

    def memory(self, batch: Batch, cause: ConsumedRecord, memory: Memory) -> None:
        """Emits the current version of a memory, unless its event has expired."""
        if memory.id in expired_events(batch.state, memory.window_id or "", memory.generation):
            return
        batch.emit(upsert_record(self._memories_topic, memory), cause)

    def event(
        self,
        batch: Batch,
        cause: ConsumedRecord,
        present: PresentEvent,
        published: PublishedWindow,
        *,
        fed: Mapping[str, Sequence[str]],
    ) -> None:
        """Emits the memory of an event as :func:`memory_of` builds it; a tombstone if the event was deleted."""
        if present.is_deleted:
            self.tombstone(batch, cause, published.extraction.tenant, present.event.id)
        else:
            self.memory(batch, cause, memory_of(present, published, fed=fed))

    def tombstone(self, batch: Batch, cause: ConsumedRecord, tenant: str, memory_id: str) -> None:
        """Emits the tombstone of a memory."""
        batch.emit(tombstone_record(self._memories_topic, tenant, memory_id), cause)

    def contributions(self, batch: Batch, cause: ConsumedRecord, contributions: Iterable[Contribution]) -> None:
        """Emits contributions, each to its entity's key."""
        for contribution in contributions:
            target = encode_key(contribution.tenant, contribution.entity_type, contribution.entity_key)
            batch.emit(OutgoingRecord(self._contributions_topic, target, contribution.to_json()), cause)


def fed_entities(contributions: Iterable[Contribution]) -> Mapping[str, Sequence[str]]:
    """The keys of the entities that each event has contributed to, by the event's id.

    Args:
        contributions: A window's contributions in force.
    """
    keys: dict[str, set[str]] = defaultdict(set)
    for contribution in contributions:
        for change in contribution.changes:
            if change.op == "apply" and not change.is_update:
                keys[change.source_id].add(contribution.entity_key)
    return {event: sorted(of_event) for event, of_event in keys.items()}


def with_trust(contributions: Sequence[Contribution], trust: WindowTrust) -> list[Contribution]:
    """Contributions whose applied changes have the trust in their event or patch."""
    if not trust.levels:
        return list(contributions)

    def stamped(change: Change) -> Change:
        level = trust.level(change.source_id)
        return change if change.op != "apply" or level == "normal" else change.model_copy(update={"trust": level})

    return [each.model_copy(update={"changes": [stamped(change) for change in each.changes]}) for each in contributions]


def memory_of(present: PresentEvent, published: PublishedWindow, *, fed: Mapping[str, Sequence[str]]) -> Memory:
    """The memory of an event. An invalidated or distrusted event remains visible and can be restored, but no recall finds it.

    Args:
        present: The event with its corrections.
        published: The window's publication.
        fed: The result of :func:`fed_entities`.
    """
    extraction, event, note = published.extraction, present.event, present.note()
    first = event.message_ids[0]
    is_distrusted = present.trust == "distrusted"
    changed_at = (
        published.trust.changed_at if present.correction is None else max(published.trust.changed_at, present.correction.changed_at)
    )
    return Memory(
        id=event.id,
        tenant=event.tenant,
        user=event.user,
        kind="event",
        type=event.type,
        content=event.content,
        speaker=event.speaker,
        properties=event.properties,
        keywords=event.keywords,
        importance=event.importance,
        event_time=event.event_time,
        date=event.date,
        said_at=event.said_at,
        session=event.session,
        window_id=event.window_id,
        entity_keys=list(fed.get(event.id, ())) or None,
        turn=extraction.message_ids.index(first) if first in extraction.message_ids else None,
        message_ids=event.message_ids,
        # A correction also declares the message unreliable.
        said=event.said if note is None else None,
        search_text=event.search_text if note is None else None,
        extractor=event.extractor,
        trust=None if present.trust == "normal" else present.trust,
        unsupported=1 if event.unsupported else None,
        generation=extraction.generation,
        version=max(published.position, changed_at),
        expires_at=note.time if note is not None and not present.is_valid else published.trust.since if is_distrusted else None,
        correction=note,
    )
