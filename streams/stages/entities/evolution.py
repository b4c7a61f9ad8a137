"""Changes of other entities that follow from an adopted outcome: they go through the extractions log, as corrections do."""

from memory.headers import EVOLUTION, KIND
from memory.keys import distinct_key
from memory.records import Contribution, Evolution
from memory.schema.model import EntityType
from operators.entities.entity_state import EntityState
from operators.llm.merging import updates_of
from runtime.kafka import OutgoingRecord
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch


def emit_evolution(
    batch: Batch, record: ConsumedRecord, contribution: Contribution, state: EntityState, entity_type: EntityType, *, topic: str
) -> None:
    """Emits the changes of other entities that follow from an outcome, in the transaction that adopts it.

    In a rebuild there are none, since the outcome arrives before its entity, and the log has the changes already.

    Args:
        batch: Receives the record.
        record: The record with the outcome.
        contribution: The outcome.
        state: The entity that has adopted it.
        entity_type: The entity's type.
        topic: The extractions topic.
    """
    merged, user = contribution.merged, contribution.user
    if merged is None or user is None:
        return
    updates = updates_of(state, entity_type, merged.property)
    if not updates:
        return
    evolution = Evolution(
        tenant=contribution.tenant,
        user=user,
        generation=contribution.generation,
        entity_type=contribution.entity_type,
        property=merged.property,
        updates=[*updates],
        time=contribution.time,
    )
    key = distinct_key(contribution.tenant, user)
    batch.emit(OutgoingRecord(topic, key, evolution.to_json(), headers=((KIND, EVOLUTION),)), record)
