"""What an erasure takes of an entity beside its state: its history, and what was written of it."""

from collections.abc import Collection, Iterable

from control.tenants import TenantDirectory
from memory.ids import entity_id, step_id
from memory.records import Contribution
from memory.schema.model import EntityType
from memory.topics import MEMORIES, MERGED
from operators.entity_state import EntityState
from operators.ownership import belongs_to_user
from runtime.kafka import OutgoingRecord
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.feed import tombstone_record
from streams.stages.entities.keys import outcome_key
from streams.stages.entities.steps import adopted_step
from streams.tenancy import is_place_erased


class EntityEraser:
    """Takes away what entities have published, by tombstones.

    Args:
        settings: The settings in force.
    """

    def __init__(self, settings: Settings) -> None:
        self._memories_topic = settings.topic(MEMORIES.name)
        self._kept_steps = settings.history.steps
        self._merged_topic = settings.topic(MERGED.name)

    def drop_history(self, batch: Batch, record: ConsumedRecord, contribution: Contribution, state: EntityState) -> None:
        """Takes away every step that an entity has come by since the last erasure: any of them may bear the entity whole.

        What lies in places of a larger ``history.steps`` of before, the run that erases takes away by what the store has.

        Args:
            batch: The step of the stage that it is part of.
            record: Where the erasure lies.
            contribution: The erasure.
            state: The entity before it.
        """
        tenant = contribution.tenant
        entity = entity_id(tenant, contribution.entity_type, contribution.entity_key, contribution.generation)
        for source, count in state.steps.items():
            for number in range(max(state.forgotten_steps.get(source, 0), count - self._kept_steps), count):
                step = step_id(entity, source, str(number % self._kept_steps))
                batch.emit(tombstone_record(self._memories_topic, tenant, step), record)

    def drop_outcomes(self, batch: Batch, record: ConsumedRecord, contribution: Contribution, outcomes: Iterable[tuple[str, str]]) -> None:
        """Takes away what was written of an entity, with the steps that brought it.

        Args:
            batch: The step of the stage that it is part of.
            record: Where the erasure lies.
            contribution: The erasure.
            outcomes: Property and part of each.
        """
        for name, part in outcomes:
            step = adopted_step(contribution, name, part)
            batch.emit(OutgoingRecord(self._merged_topic, outcome_key(contribution, name, part), None), record)
            batch.emit(tombstone_record(self._memories_topic, contribution.tenant, step), record)

    def drop_memories(self, batch: Batch, record: ConsumedRecord, contribution: Contribution, *, known: Collection[str]) -> None:
        """Takes away memories and steps that the erasure names and the entity's state does not know: what a rebuild did not make again.

        Args:
            batch: The step of the stage that it is part of.
            record: Where the erasure lies.
            contribution: The erasure.
            known: Memories that the state knows: they are published or taken away as the state says.
        """
        for memory_id in contribution.forgotten_memories or ():
            if memory_id not in known:
                batch.emit(tombstone_record(self._memories_topic, contribution.tenant, memory_id), record)


def anonymized(erasure: Contribution) -> Contribution:
    """What stands for an erasure in what comes of it: nothing of that names the user, and none of it is taken for an erasure."""
    forgotten = dict.fromkeys(("forgotten_messages", "forgotten_memories", "forgotten_outcomes"))
    return erasure.model_copy(update={"user": None, "cause": "extraction", "changes": [], **forgotten})


def is_erased(tenants: TenantDirectory, contribution: Contribution, entity_type: EntityType) -> bool:
    """Whether an erasure reaches a contribution. What time or a model brings to an entity that others share goes on.

    Args:
        tenants: Who was erased.
        contribution: The contribution.
        entity_type: The type of its entity.

    Raises:
        TransientError: If what this process knows is too old to tell.
    """
    if contribution.kind != "change" and not belongs_to_user(entity_type, contribution.entity_key, contribution.user):
        return False
    topic, _, partition = contribution.source.rpartition("/")
    return partition.isdigit() and is_place_erased(
        tenants, contribution.tenant, contribution.user, topic, int(partition), contribution.position
    )
