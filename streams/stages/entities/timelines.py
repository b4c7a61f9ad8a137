"""Outputs of an entity's timelines: their summaries, and requests to expire events."""

from collections import defaultdict

from memory.headers import EXPIRY, KIND
from memory.keys import distinct_key
from memory.records import Contribution, EventRef, Expiry
from memory.schema.model import EntityType
from memory.topics import EXTRACTIONS, MEMORIES
from operators.aging import AgedEvent
from operators.applied_positions import merged_sources
from operators.entities.apply import Applied
from operators.entities.entity_state import EntityState
from operators.entities.render import published_changes
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.feed import tombstone_record, upsert_record


class TimelinePublisher:
    """Publishes the outputs of timelines.

    Args:
        settings: The settings in force.
        metrics: Counts summaries and expired events.
    """

    def __init__(self, *, settings: Settings, metrics: Metrics) -> None:
        self._memories_topic = settings.topic(MEMORIES.name)
        self._extractions_topic = settings.topic(EXTRACTIONS.name)
        self._metrics = metrics

    def summaries(
        self,
        batch: Batch,
        record: ConsumedRecord,
        contribution: Contribution,
        entity_type: EntityType,
        *,
        before: EntityState | None,
        after: EntityState | None,
    ) -> None:
        """Publishes the changed summaries; all of them if none has changed, since a repetition repairs later stages.

        ``before`` and ``after`` are the entity before and after the step.
        """
        tenant, key = contribution.tenant, contribution.entity_key
        changed, removed = published_changes(None if before is after else before, after, entity_type, tenant, key)
        for memory in changed.values():
            batch.emit(upsert_record(self._memories_topic, memory), record)
            self._metrics.records.labels("entities", "summarised").inc()
        for memory_id in sorted(removed):
            batch.emit(tombstone_record(self._memories_topic, tenant, memory_id), record)

    def expiries(self, batch: Batch, record: ConsumedRecord, contribution: Contribution, entity_type: EntityType, applied: Applied) -> None:
        """Asks the events stage to expire the events that a tick has found."""
        by_user: defaultdict[tuple[str, str], list[AgedEvent]] = defaultdict(list)
        for property_name, event in applied.aged:
            by_user[property_name, event.user].append(event)
        known = {source: int(last) for source, (last, _) in merged_sources(applied.state.sources).items()}
        for (property_name, user), events in sorted(by_user.items()):
            expiry = Expiry(
                tenant=contribution.tenant,
                user=user,
                generation=contribution.generation,
                entity_type=contribution.entity_type,
                entity_key=contribution.entity_key,
                property=property_name,
                events=[EventRef(id=each.id, window_id=each.window_id) for each in events],
                retract=_is_retracting(entity_type, property_name),
                known=known,
                time=contribution.time,
            )
            target = distinct_key(contribution.tenant, user)
            batch.emit(OutgoingRecord(self._extractions_topic, target, expiry.to_json(), headers=((KIND, EXPIRY),)), record)
            self._metrics.records.labels("entities", "expired").inc(len(events))


def _is_retracting(entity_type: EntityType, property_name: str) -> bool:
    each = entity_type.property(property_name)
    return each is not None and each.aggregate is not None and bool(dict(each.aggregate.parameters).get("Retract"))
