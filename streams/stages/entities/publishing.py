"""Publications about an entity: its memory, its operators' questions, and the outcomes that a rebuild needs."""

from collections.abc import Iterable
from datetime import datetime

from memory.ids import entity_id
from memory.keys import encode_key
from memory.records import Contribution
from memory.schema.model import EntityType
from memory.topics import MEMORIES, MERGED, MERGES
from operators.entities.entity_state import EntityState
from operators.entities.render import render
from operators.llm.merging import SettledEntity, merge_requests
from runtime.kafka import OutgoingRecord
from runtime.redis.entity_view import EntityAsOf, EntityUpdate
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.entities.codec import outcome_key
from streams.stages.entities.entity_types import EntityTypes
from streams.stages.entities.history import HistoryPublisher, adopted_entry_id
from streams.stages.entities.view_writer import ViewWriter
from streams.stages.feed import tombstone_record, upsert_record


class EntityPublisher:
    """Emits the publications of one partition's entities.

    Args:
        settings: The settings in force.
        types: Finds the fields that an entity shows.
        history: Publishes the history entry of an adopted outcome.
        view: Makes changed entities readable at once. None: they are not.
    """

    def __init__(self, *, settings: Settings, types: EntityTypes, history: HistoryPublisher, view: ViewWriter | None) -> None:
        self._memories_topic = settings.topic(MEMORIES.name)
        self._merges_topic = settings.topic(MERGES.name)
        self._merged_topic = settings.topic(MERGED.name)
        self._types = types
        self._history = history
        self._view = view

    def entity(self, batch: Batch, record: ConsumedRecord, contribution: Contribution, entity_type: EntityType, state: EntityState) -> None:
        """Emits the memory of an entity after its last contribution; a tombstone if nothing is left of it."""
        tenant = contribution.tenant
        if state.empty:
            memory_id = entity_id(tenant, contribution.entity_type, contribution.entity_key, contribution.generation)
            batch.emit(tombstone_record(self._memories_topic, tenant, memory_id), record)
            self._show(record, tenant, memory_id, EntityAsOf(state.version, None))
            return
        memory = render(state, self._types.shown(state, contribution, entity_type), tenant, contribution.entity_key)
        batch.emit(upsert_record(self._memories_topic, memory), record)
        self._show(record, tenant, memory.id, EntityAsOf(memory.version, memory))

    def questions(self, batch: Batch, record: ConsumedRecord, cause: Contribution, planned: SettledEntity) -> None:
        """Emits the questions of an entity's operators, keeps the outcomes that need no question, and drops those no longer needed."""
        target = encode_key(cause.tenant, cause.entity_type, cause.entity_key)
        for request in merge_requests(planned, cause):
            batch.emit(OutgoingRecord(self._merges_topic, target, request.to_json()), record)
        for merged in planned.merged:
            self.keep_outcome(batch, record, cause.model_copy(update={"kind": "merged", "merged": merged, "changes": []}))
        for name, part in planned.dropped:
            batch.emit(OutgoingRecord(self._merged_topic, outcome_key(cause, name, part), None), record)

    def keep_outcome(self, batch: Batch, record: ConsumedRecord, contribution: Contribution) -> None:
        """Keeps an outcome that the entity has adopted, for a rebuild, in place of the previous one."""
        merged = contribution.merged
        if merged is None:
            return
        contribution = contribution.model_copy(update={"recorded_at": recorded_at(record, contribution)})
        key = outcome_key(contribution, merged.property, merged.part)
        batch.emit(OutgoingRecord(self._merged_topic, key, contribution.to_json()), record)
        self._history.adopted(batch, record, contribution)

    def drop_outcomes(self, batch: Batch, record: ConsumedRecord, contribution: Contribution, outcomes: Iterable[tuple[str, str]]) -> None:
        """Deletes outcomes of an entity, each given as property and part, with the history entries that recorded them."""
        for name, part in outcomes:
            step = adopted_entry_id(contribution, name, part)
            batch.emit(OutgoingRecord(self._merged_topic, outcome_key(contribution, name, part), None), record)
            batch.emit(tombstone_record(self._memories_topic, contribution.tenant, step), record)

    def _show(self, record: ConsumedRecord, tenant: str, memory_id: str, entity: EntityAsOf) -> None:
        if self._view is not None:
            self._view.changed(EntityUpdate(tenant, memory_id, entity, record.partition, record.offset))


def recorded_at(record: ConsumedRecord, contribution: Contribution) -> datetime:
    """The time since when the statement of a contribution is known."""
    return contribution.recorded_at or record.appended_at
