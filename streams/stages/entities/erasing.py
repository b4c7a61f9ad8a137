"""Erasure of an entity's data outside its state: its history and its outcomes."""

from collections.abc import Collection, Iterable

from control.tenants import TenantDirectory
from memory.ids import entity_id, step_id
from memory.records import Contribution
from memory.schema.model import EntityType
from memory.topics import MEMORIES, MERGED
from operators.applied_positions import source_without_copy
from operators.entities.entity_keys import belongs_to_user
from operators.entities.entity_state import EntityState
from runtime.kafka import OutgoingRecord
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.entities.codec import outcome_key
from streams.stages.entities.history import adopted_entry_id
from streams.stages.feed import tombstone_record
from streams.stages.tenancy import is_place_erased


class EntityEraser:
    """Deletes what entities have published, by tombstones.

    Args:
        settings: The settings in force.
    """

    def __init__(self, settings: Settings) -> None:
        self._memories_topic = settings.topic(MEMORIES.name)
        self._kept_steps = settings.history.steps
        self._merged_topic = settings.topic(MERGED.name)

    def drop_history(self, batch: Batch, record: ConsumedRecord, contribution: Contribution, state: EntityState) -> None:
        """Deletes every history entry of an entity since the last erasure: any of them may contain the whole entity.

        The erasure command deletes the entries beyond the current ``history.steps``, from a time when that setting was larger: it reads the
        store.
        """
        tenant = contribution.tenant
        entity = entity_id(tenant, contribution.entity_type, contribution.entity_key, contribution.generation)
        for source, count in state.steps.items():
            for number in range(max(state.forgotten_steps.get(source, 0), count - self._kept_steps), count):
                step = step_id(entity, source, str(number % self._kept_steps))
                batch.emit(tombstone_record(self._memories_topic, tenant, step), record)

    def drop_outcomes(self, batch: Batch, record: ConsumedRecord, contribution: Contribution, outcomes: Iterable[tuple[str, str]]) -> None:
        """Deletes outcomes of an entity, each given as property and part, with the history entries that recorded them."""
        for name, part in outcomes:
            step = adopted_entry_id(contribution, name, part)
            batch.emit(OutgoingRecord(self._merged_topic, outcome_key(contribution, name, part), None), record)
            batch.emit(tombstone_record(self._memories_topic, contribution.tenant, step), record)

    def drop_memories(self, batch: Batch, record: ConsumedRecord, contribution: Contribution, *, known: Collection[str]) -> None:
        """Deletes memories and history entries that the erasure names and the entity's state lacks, since a rebuild did not make them.

        The state decides about the memories in ``known``.
        """
        for memory_id in contribution.forgotten_memories or ():
            if memory_id not in known:
                batch.emit(tombstone_record(self._memories_topic, contribution.tenant, memory_id), record)


def anonymized(erasure: Contribution) -> Contribution:
    """The erasure without its user, for outputs: these must not name the user, and must not be read as an erasure."""
    forgotten = dict.fromkeys(("forgotten_messages", "forgotten_memories", "forgotten_outcomes"))
    return erasure.model_copy(update={"user": None, "cause": "extraction", "changes": [], **forgotten})


def is_erased(tenants: TenantDirectory, contribution: Contribution, entity_type: EntityType) -> bool:
    """Whether an erasure covers a contribution. Contributions of time or of a model to a shared entity remain.

    Raises:
        TransientError: This process's control data is too old to decide.
    """
    if contribution.kind != "change" and not belongs_to_user(entity_type, contribution.entity_key, contribution.user):
        return False
    topic, _, partition = source_without_copy(contribution.source).rpartition("/")
    return partition.isdigit() and is_place_erased(
        tenants, contribution.tenant, contribution.user, topic, int(partition), contribution.position
    )
