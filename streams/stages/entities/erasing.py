"""Removal of an erased user's data, and of what retention takes, from entities: their state, memories, history and outcomes."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from control.tenants import TenantDirectory
from memory.ids import entity_id, step_id
from memory.records import Contribution, Merged
from memory.schema.model import EntityType
from memory.topics import MEMORIES
from operators.applied_positions import source_without_copy
from operators.entities.entity_keys import belongs_to_user
from operators.entities.entity_state import EntityState, emptied, with_erasure, without_messages
from operators.entities.render import published_memories
from operators.llm.merging import forget, outcomes_of
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.entities.codec import row_key
from streams.stages.entities.entity_types import EntityTypes
from streams.stages.entities.publishing import EntityPublisher
from streams.stages.feed import tombstone_record
from streams.stages.tenancy import is_place_erased


class EntityEraser:
    """Removes from entities what an erasure or retention takes, with everything that they have published of it.

    Args:
        settings: The settings in force.
        types: Finds the fields that an entity still has.
        publisher: Keeps and drops outcomes.
    """

    def __init__(self, *, settings: Settings, types: EntityTypes, publisher: EntityPublisher) -> None:
        self._memories_topic = settings.topic(MEMORIES.name)
        self._kept_steps = settings.history.steps
        self._has_llm = settings.llm.base_url is not None
        self._types = types
        self._publisher = publisher

    def delete(
        self,
        batch: Batch,
        record: ConsumedRecord,
        erasure: Contribution,
        entity_type: EntityType,
        before: EntityState | None,
        *,
        is_own: bool,
    ) -> None:
        """Deletes an entity that belongs to an erased user (``is_own``), or the traces of one that has no state."""
        batch.is_erasing = True
        named = _named_outcomes(erasure)
        if before is None:
            self._publisher.drop_outcomes(batch, record, erasure, named)
            self._drop_memories(batch, record, erasure, known=())
            if not is_own:
                nothing = EntityState(generation=erasure.generation)
                batch.state.put(row_key(erasure), with_erasure(nothing, erasure), position=record.offset)
            return
        self._drop_published(batch, record, erasure, entity_type, before)
        self._publisher.drop_outcomes(batch, record, erasure, self._outcomes(before, erasure, entity_type, named))
        batch.state.delete(row_key(erasure), position=record.offset)

    def remove_user(
        self,
        batch: Batch,
        record: ConsumedRecord,
        erasure: Contribution,
        entity_type: EntityType,
        before: EntityState,
        *,
        after: EntityState,
    ) -> None:
        """Removes an erased user's data from an entity of several users; ``after`` is the entity with the user's changes retracted."""
        batch.is_erasing = True
        self._drop_published(batch, record, erasure, entity_type, before)
        outcomes = self._outcomes(before, erasure, entity_type, _named_outcomes(erasure))
        state = with_erasure(without_messages(after, erasure), erasure)
        self._forget(batch, record, anonymized(erasure), entity_type, state, outcomes)

    def reduce(
        self,
        batch: Batch,
        record: ConsumedRecord,
        contribution: Contribution,
        entity_type: EntityType,
        before: EntityState,
        *,
        after: EntityState,
    ) -> None:
        """Removes what retention takes from an entity, with the history, which quotes it. An entity without anything else is deleted.

        If users were erased from it, only the places of its changes stay: a replay has the erasures again, after contributions that came
        later, and must not remove these.
        """
        self._drop_history(batch, record, contribution, before)
        outcomes = self._outcomes(before, contribution, entity_type)
        state, plain = without_messages(after, contribution), without_removals(contribution)
        if not state.empty:
            self._forget(batch, record, plain, entity_type, state, outcomes)
            return
        self._publisher.drop_outcomes(batch, record, plain, outcomes)
        if state.erasures:
            batch.state.put(row_key(contribution), emptied(state), position=record.offset)
            return
        batch.state.delete(row_key(contribution), position=record.offset)

    def _forget(
        self,
        batch: Batch,
        record: ConsumedRecord,
        contribution: Contribution,
        entity_type: EntityType,
        state: EntityState,
        outcomes: Sequence[tuple[str, str]],
    ) -> None:
        """Stores an entity without the texts that a model wrote about what it has lost; ``outcomes`` names the texts that the log has."""
        state = forget(state, entity_type, has_llm=self._has_llm).state
        state = replace(state, forgotten_steps=state.steps)
        batch.state.put(row_key(contribution), state, position=record.offset)
        remaining = outcomes_of(state, entity_type)
        dropped = set(outcomes) - set(map(_place_of, remaining))
        self._publisher.drop_outcomes(batch, record, contribution, sorted(dropped))
        for merged in remaining:
            # Publish it again: the log's version named what was removed, or was never adopted.
            self._publisher.keep_outcome(batch, record, contribution.model_copy(update={"kind": "merged", "merged": merged}))

    def _outcomes(
        self, state: EntityState, contribution: Contribution, entity_type: EntityType, named: Iterable[tuple[str, str]] = ()
    ) -> list[tuple[str, str]]:
        """Property and part of each outcome that the log has of an entity: those that it uses, and those that the erasure names."""
        whole_type = self._types.shown(state, contribution, entity_type)
        return list(dict.fromkeys((*map(_place_of, outcomes_of(state, whole_type)), *named)))

    def _drop_published(
        self, batch: Batch, record: ConsumedRecord, erasure: Contribution, entity_type: EntityType, state: EntityState
    ) -> None:
        """Deletes the history of an entity, and the memories that the erasure names and the entity does not publish itself."""
        tenant, entity_key = erasure.tenant, erasure.entity_key
        self._drop_history(batch, record, erasure, state)
        published = published_memories(state, self._types.shown(state, erasure, entity_type), tenant, entity_key).keys()
        entity = entity_id(tenant, erasure.entity_type, entity_key, erasure.generation)
        self._drop_memories(batch, record, erasure, known={entity, *published})

    def _drop_history(self, batch: Batch, record: ConsumedRecord, contribution: Contribution, state: EntityState) -> None:
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

    def _drop_memories(self, batch: Batch, record: ConsumedRecord, contribution: Contribution, *, known: Collection[str]) -> None:
        """Deletes memories and history entries that the erasure names and the entity's state lacks, since a rebuild did not make them.

        The state decides about the memories in ``known``.
        """
        for memory_id in contribution.forgotten_memories or ():
            if memory_id not in known:
                batch.emit(tombstone_record(self._memories_topic, contribution.tenant, memory_id), record)


def _named_outcomes(erasure: Contribution) -> list[tuple[str, str]]:
    return [(name, part) for name, part in erasure.forgotten_outcomes or ()]


def _place_of(merged: Merged) -> tuple[str, str]:
    return merged.property, merged.part or "-"


def without_removals(contribution: Contribution) -> Contribution:
    """A contribution of retention without what it removes, for outputs: these must not be read as retention."""
    return contribution.model_copy(update={"cause": "extraction", "changes": [], "forgotten_messages": None})


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
