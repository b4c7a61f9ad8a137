"""The entities stage: applies contributions to entity state, exactly once by source position, and publishes the entities.

If an operator needs a model, the stage sends a request, and the answer arrives as a contribution. So the stage waits for nothing.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from control.tenants import TenantDirectory
from memory.ids import entity_id
from memory.keys import encode_key
from memory.records import Contribution, Dropped
from memory.schema.model import EntityType
from memory.topics import EXTRACTIONS, MEMORIES, MERGED, MERGES
from operators.entities.apply import Applied, apply_contribution, skip, takes_long
from operators.entities.entity_keys import belongs_to_user
from operators.entities.entity_state import EntityState, emptied, has_forgotten, with_erasure, without_messages
from operators.entities.render import published_memories, publishes, render
from operators.entities.ticks import ages
from operators.llm.merging import apply_outcome, forget, is_in_use, merge_requests, outcomes_of, plan_questions
from runtime.clocks import Clock
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.redis.entity_view import EntityAsOf, EntityUpdate
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import PartitionState
from streams.engine.tasks.batch import Batch, BatchHandler
from streams.errors import PoisonRecordError
from streams.stages.entities.codec import EntityRow, outcome_key, row_key
from streams.stages.entities.entity_types import EntityTypes
from streams.stages.entities.erasing import EntityEraser, anonymized, is_erased
from streams.stages.entities.evolution import emit_evolution
from streams.stages.entities.history import HistoryPublisher
from streams.stages.entities.timelines import TimelinePublisher
from streams.stages.entities.timers import EntityTimers
from streams.stages.entities.view_writer import ViewWriter
from streams.stages.feed import tombstone_record, upsert_record

_PLAIN: Final[dict[str, object]] = {"cause": "extraction", "changes": [], "forgotten_messages": None}
"""Fields of what an entity publishes after retention has removed something from it."""
_CHANGES_AT_ONCE: Final = 20
"""Changes that take a few milliseconds: a patch takes up to half a millisecond even if it searches nothing."""


@dataclass(frozen=True, slots=True)
class _LastContribution:
    """The last contribution of a batch to one entity."""

    record: ConsumedRecord
    contribution: Contribution
    entity_type: EntityType
    before: EntityState | None
    """The entity before the batch."""


class _ChangedEntities(dict[bytes, _LastContribution]):
    """The last contribution to each entity that a batch changes, by the key of the entity's row."""

    def note(self, key: bytes, last: _LastContribution) -> None:
        """Notes a contribution, with the entity before it; the entity before the batch is kept."""
        earlier = self.get(key)
        self[key] = last if earlier is None else replace(last, before=earlier.before)


class EntitiesHandler(BatchHandler):
    """Handles one partition of ``contributions``.

    Args:
        partition: Its number.
        settings: The settings in force.
        tenants: The known tenants, with their schemas.
        metrics: Counts refused changes.
        clock: The wall clock, for stored times.
        view: Makes changed entities readable at once. None: they are not.
    """

    def __init__(
        self,
        *,
        partition: int,
        settings: Settings,
        tenants: TenantDirectory,
        metrics: Metrics,
        clock: Clock,
        view: ViewWriter | None = None,
    ) -> None:
        self._memories_topic = settings.topic(MEMORIES.name)
        self._extractions_topic = settings.topic(EXTRACTIONS.name)
        self._merges_topic = settings.topic(MERGES.name)
        self._merged_topic = settings.topic(MERGED.name)
        self._has_llm = settings.llm.base_url is not None
        self._tenants = tenants
        self._types = EntityTypes(tenants)
        self._metrics = metrics
        self._view = view
        self._timers = EntityTimers(partition=partition, settings=settings, clock=clock)
        self._timelines = TimelinePublisher(settings=settings, metrics=metrics)
        self._history = HistoryPublisher(settings=settings, metrics=metrics)
        self._eraser = EntityEraser(settings)

    async def recover(self, state: PartitionState[EntityRow], now: datetime) -> None:
        """Sets the timers of the entities that change as event time passes."""
        await self._timers.recover(state, now)

    def watermark(self, now: datetime) -> datetime | None:
        """Event time of the partition, if an entity ages."""
        return self._timers.watermark(now)

    def due(self, now: datetime) -> list[OutgoingRecord]:
        """Ticks for the entities whose time has come. They go through the log."""
        return list(self._timers.due(now))

    def on_dead_lettered(self, state: PartitionState[EntityState], record: ConsumedRecord) -> None:
        """Leaves a hole at the contribution's position, so that a redrive after later contributions is still applied."""
        contribution = Contribution.from_json(record.value or b"")
        if contribution.kind == "merged":
            # It is independent of other contributions, and has no place in their order.
            return
        key = row_key(contribution)
        skipped = skip(state.get(key), contribution)
        self._count(skipped.refused)
        if skipped.changed:
            state.put(key, skipped.state, position=record.offset)

    async def handle(self, batch: Batch) -> None:
        """Applies contributions in order; then each changed entity asks its questions, and is published, once."""
        changed = _ChangedEntities()
        self._timers.begin(batch)
        await batch.each(lambda record: self._contribution(batch, record, changed))
        for key, last in changed.items():
            self._plan_questions(batch, key, last)
            self._publish(batch, key, last)
            state: EntityState = batch.state.get(key) or EntityState()
            if publishes(last.entity_type):
                self._timelines.summaries(batch, last.record, last.contribution, last.entity_type, before=last.before, after=state)
            if ages(last.entity_type):
                self._timers.set(batch, last.record, state, last.contribution, last.entity_type)

    async def _contribution(self, batch: Batch, record: ConsumedRecord, changed: _ChangedEntities) -> None:
        contribution = Contribution.from_json(record.value or b"")
        key = row_key(contribution)
        before = batch.state.get(key)
        try:
            entity_type = self._types.of(contribution)
            applied_type = self._types.applied(before, contribution, entity_type)
        except PoisonRecordError:
            if contribution.kind == "tick":
                # The entity's user was erased. If the user returns, the next contribution sets the timer again.
                self._timers.remove(batch, record, contribution)
                return
            self.on_dead_lettered(batch.state, record)
            raise
        if contribution.cause == "retention":
            if before is None:
                return  # a replay: there is nothing to remove any more
            await self._reduce(batch, record, contribution, applied_type, before)
            changed.note(key, _LastContribution(record, contribution.model_copy(update=_PLAIN), entity_type, before))
            return
        if contribution.cause == "erasure":
            await self._erase(batch, record, contribution, applied_type, before)
            changed.note(key, _LastContribution(record, anonymized(contribution), entity_type, before))
            return
        if is_erased(self._tenants, contribution, entity_type):
            self._metrics.records.labels("entities", "erased").inc()
            return
        await self._apply(batch, record, contribution, entity_type, applied_type, before)
        if batch.state.get(key) is not None:
            # Also if it was applied before: a repetition is harmless, and a replay uses it to repair later stages.
            changed.note(key, _LastContribution(record, contribution, entity_type, before))

    async def _apply(
        self,
        batch: Batch,
        record: ConsumedRecord,
        contribution: Contribution,
        entity_type: EntityType,
        applied_type: EntityType,
        before: EntityState | None,
    ) -> None:
        """Applies changes or a model's outcome; ``applied_type`` is the entity's type with the removed fields that are retracted."""
        if contribution.merged is not None:
            recorded_at = _recorded_at(record, contribution)
            applied = apply_outcome(before, contribution.merged, entity_type, contribution.generation, recorded_at=recorded_at)
        else:
            applied = await _applied(before, contribution, applied_type)
            if ages(entity_type):
                # Other contributions' times are in no timer, so a successor would know less than this worker.
                self._timers.observe(contribution, batch.now, recorded_at=_recorded_at(record, contribution))
        self._count(applied.refused)
        if applied.changed:
            batch.state.put(row_key(contribution), applied.state, position=record.offset)
            self._history.applied(batch, record, contribution, number=applied.step, before=before)
            if contribution.merged is not None and is_in_use(contribution.merged, applied.state, entity_type):
                self._keep_outcome(batch, record, contribution)
                emit_evolution(batch, record, contribution, applied.state, entity_type, topic=self._extractions_topic)
        if applied.aged:
            self._timelines.expiries(batch, record, contribution, entity_type, applied)

    async def _erase(
        self, batch: Batch, record: ConsumedRecord, contribution: Contribution, entity_type: EntityType, before: EntityState | None
    ) -> None:
        """Deletes an entity that belongs to the user; from any other entity, removes the user's data.

        A replay has the erasure again, after contributions that came later: what the entity has since then stays.
        """
        is_own = belongs_to_user(entity_type, contribution.entity_key, contribution.user)
        if before is not None and not is_own and has_forgotten(before, contribution):
            return
        batch.is_erasing = True
        named = [(name, part) for name, part in contribution.forgotten_outcomes or ()]
        if before is None:
            self._eraser.drop_outcomes(batch, record, contribution, named)
            self._eraser.drop_memories(batch, record, contribution, known=())
            if not is_own:
                nothing = EntityState(generation=contribution.generation)
                batch.state.put(row_key(contribution), with_erasure(nothing, contribution), position=record.offset)
            return
        tenant, entity_key = contribution.tenant, contribution.entity_key
        self._eraser.drop_history(batch, record, contribution, before)
        whole_type = self._types.shown(before, contribution, entity_type)
        published = published_memories(before, whole_type, tenant, entity_key).keys()
        entity = entity_id(tenant, contribution.entity_type, entity_key, contribution.generation)
        self._eraser.drop_memories(batch, record, contribution, known={entity, *published})
        kept = list(dict.fromkeys((*((each.property, each.part or "-") for each in outcomes_of(before, whole_type)), *named)))
        if is_own:
            self._eraser.drop_outcomes(batch, record, contribution, kept)
            batch.state.delete(row_key(contribution), position=record.offset)
            return
        retracted = await _applied(before, contribution, entity_type)
        self._count(retracted.refused)
        state = with_erasure(without_messages(retracted.state, contribution), contribution)
        self._forget(batch, record, anonymized(contribution), entity_type, state, kept)

    def _forget(
        self,
        batch: Batch,
        record: ConsumedRecord,
        contribution: Contribution,
        entity_type: EntityType,
        state: EntityState,
        kept: Sequence[tuple[str, str]],
    ) -> None:
        """Stores an entity without the texts that a model wrote about what it has lost; ``kept`` names the texts that the log has."""
        state = forget(state, entity_type, has_llm=self._has_llm).state
        state = replace(state, forgotten_steps=state.steps)
        batch.state.put(row_key(contribution), state, position=record.offset)
        remaining = outcomes_of(state, entity_type)
        dropped = set(kept) - {(each.property, each.part or "-") for each in remaining}
        self._eraser.drop_outcomes(batch, record, contribution, sorted(dropped))
        for merged in remaining:
            # Publish it again: the log's version named what was removed, or was never adopted.
            self._keep_outcome(batch, record, contribution.model_copy(update={"kind": "merged", "merged": merged}))

    async def _reduce(
        self, batch: Batch, record: ConsumedRecord, contribution: Contribution, entity_type: EntityType, before: EntityState
    ) -> None:
        """Removes what retention takes from an entity, with the history, which quotes it. An entity without anything else is deleted.

        If users were erased from it, only the places of its changes stay: a replay has the erasures again, after contributions that came
        later, and must not remove these.
        """
        applied = await _applied(before, contribution, entity_type)
        if not applied.changed:
            return  # it was applied before
        self._count(applied.refused)
        self._eraser.drop_history(batch, record, contribution, before)
        whole_type = self._types.shown(before, contribution, entity_type)
        kept = [(each.property, each.part or "-") for each in outcomes_of(before, whole_type)]
        state, plain = without_messages(applied.state, contribution), contribution.model_copy(update=_PLAIN)
        if not state.empty:
            self._forget(batch, record, plain, entity_type, state, kept)
            return
        self._eraser.drop_outcomes(batch, record, plain, kept)
        if state.erasures:
            batch.state.put(row_key(contribution), emptied(state), position=record.offset)
            return
        batch.state.delete(row_key(contribution), position=record.offset)

    def _count(self, refused: Iterable[Dropped]) -> None:
        for each in refused:
            self._metrics.records.labels("entities", f"refused_{each.reason}").inc(each.count)

    def _plan_questions(self, batch: Batch, key: bytes, last: _LastContribution) -> None:
        """Sends the questions of the entity's operators, and keeps the outcomes that need no question."""
        state: EntityState = batch.state.get(key) or EntityState()
        planned = plan_questions(state, last.entity_type, has_llm=self._has_llm)
        if planned.state is state:
            return
        batch.state.put(key, planned.state, position=last.record.offset)
        cause = last.contribution
        target = encode_key(cause.tenant, cause.entity_type, cause.entity_key)
        for request in merge_requests(planned, cause):
            batch.emit(OutgoingRecord(self._merges_topic, target, request.to_json()), last.record)
        for merged in planned.merged:
            self._keep_outcome(batch, last.record, cause.model_copy(update={"kind": "merged", "merged": merged, "changes": []}))
        for name, part in planned.dropped:
            batch.emit(OutgoingRecord(self._merged_topic, outcome_key(cause, name, part), None), last.record)

    def _keep_outcome(self, batch: Batch, record: ConsumedRecord, contribution: Contribution) -> None:
        """Keeps an outcome that the entity has adopted, for a rebuild, in place of the previous one."""
        merged = contribution.merged
        if merged is None:
            return
        contribution = contribution.model_copy(update={"recorded_at": _recorded_at(record, contribution)})
        key = outcome_key(contribution, merged.property, merged.part)
        batch.emit(OutgoingRecord(self._merged_topic, key, contribution.to_json()), record)
        self._history.adopted(batch, record, contribution)

    def _publish(self, batch: Batch, key: bytes, last: _LastContribution) -> None:
        contribution, tenant = last.contribution, last.contribution.tenant
        state: EntityState = batch.state.get(key) or EntityState()
        if state.empty:
            memory_id = entity_id(tenant, contribution.entity_type, contribution.entity_key, contribution.generation)
            batch.emit(tombstone_record(self._memories_topic, tenant, memory_id), last.record)
            self._show(last.record, tenant, memory_id, EntityAsOf(state.version, None))
            return
        memory = render(state, self._types.shown(state, contribution, last.entity_type), tenant, contribution.entity_key)
        batch.emit(upsert_record(self._memories_topic, memory), last.record)
        self._show(last.record, tenant, memory.id, EntityAsOf(memory.version, memory))

    def _show(self, record: ConsumedRecord, tenant: str, memory_id: str, entity: EntityAsOf) -> None:
        if self._view is not None:
            self._view.changed(EntityUpdate(tenant, memory_id, entity, record.partition, record.offset))


async def _applied(state: EntityState | None, contribution: Contribution, entity_type: EntityType) -> Applied:
    """Applies the contribution, in a thread if that may take long, so that other partitions and the heartbeat continue."""
    if len(contribution.changes) > _CHANGES_AT_ONCE or takes_long(state, contribution, entity_type):
        return await asyncio.to_thread(apply_contribution, state, contribution, entity_type)
    return apply_contribution(state, contribution, entity_type)


def _recorded_at(record: ConsumedRecord, contribution: Contribution) -> datetime:
    """The time since when the statement of a contribution is known."""
    return contribution.recorded_at or record.appended_at
