"""The entities stage: applies contributions to entity state, exactly once by source position, and publishes the entities.

If an operator needs a model, the stage sends a request, and the answer arrives as a contribution. So the stage waits for nothing.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from control.tenants import TenantDirectory
from memory.records import Contribution, Dropped
from memory.schema.model import EntityType
from memory.topics import EXTRACTIONS
from operators.entities.apply import Applied, apply_contribution, skip, takes_long
from operators.entities.entity_keys import belongs_to_user
from operators.entities.entity_state import EntityState, has_forgotten
from operators.entities.render import publishes
from operators.entities.ticks import ages
from operators.llm.merging import apply_outcome, is_in_use, plan_questions
from runtime.clocks import Clock
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import PartitionState
from streams.engine.tasks.batch import Batch, BatchHandler
from streams.errors import PoisonRecordError
from streams.stages.entities.codec import EntityRow, row_key
from streams.stages.entities.entity_types import EntityTypes
from streams.stages.entities.erasing import EntityEraser, anonymized, is_erased, without_removals
from streams.stages.entities.evolution import emit_evolution
from streams.stages.entities.history import HistoryPublisher
from streams.stages.entities.publishing import EntityPublisher, recorded_at
from streams.stages.entities.timelines import TimelinePublisher
from streams.stages.entities.timers import EntityTimers
from streams.stages.entities.view_writer import ViewWriter

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
        self._extractions_topic = settings.topic(EXTRACTIONS.name)
        self._has_llm = settings.llm.base_url is not None
        self._tenants = tenants
        self._types = EntityTypes(tenants)
        self._metrics = metrics
        self._timers = EntityTimers(partition=partition, settings=settings, clock=clock)
        self._timelines = TimelinePublisher(settings=settings, metrics=metrics)
        self._history = HistoryPublisher(settings=settings, metrics=metrics)
        self._publisher = EntityPublisher(settings=settings, types=self._types, history=self._history, view=view)
        self._eraser = EntityEraser(settings=settings, types=self._types, publisher=self._publisher)

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
            state: EntityState = batch.state.get(key) or EntityState()
            self._publisher.entity(batch, last.record, last.contribution, last.entity_type, state)
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
            changed.note(key, _LastContribution(record, without_removals(contribution), entity_type, before))
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
            known_since = recorded_at(record, contribution)
            applied = apply_outcome(before, contribution.merged, entity_type, contribution.generation, recorded_at=known_since)
        else:
            applied = await _applied(before, contribution, applied_type)
            if ages(entity_type):
                # Other contributions' times are in no timer, so a successor would know less than this worker.
                self._timers.observe(contribution, batch.now, recorded_at=recorded_at(record, contribution))
        self._count(applied.refused)
        if applied.changed:
            batch.state.put(row_key(contribution), applied.state, position=record.offset)
            self._history.applied(batch, record, contribution, number=applied.step, before=before)
            if contribution.merged is not None and is_in_use(contribution.merged, applied.state, entity_type):
                self._publisher.keep_outcome(batch, record, contribution)
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
        if before is None or is_own:
            self._eraser.delete(batch, record, contribution, entity_type, before, is_own=is_own)
        elif not has_forgotten(before, contribution):
            retracted = await _applied(before, contribution, entity_type)
            self._count(retracted.refused)
            self._eraser.remove_user(batch, record, contribution, entity_type, before, after=retracted.state)

    async def _reduce(
        self, batch: Batch, record: ConsumedRecord, contribution: Contribution, entity_type: EntityType, before: EntityState
    ) -> None:
        """Removes what retention takes from an entity."""
        applied = await _applied(before, contribution, entity_type)
        if applied.changed:  # otherwise it was applied before
            self._count(applied.refused)
            self._eraser.reduce(batch, record, contribution, entity_type, before, after=applied.state)

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
        self._publisher.questions(batch, last.record, last.contribution, planned)


async def _applied(state: EntityState | None, contribution: Contribution, entity_type: EntityType) -> Applied:
    """Applies the contribution, in a thread if that may take long, so that other partitions and the heartbeat continue."""
    if len(contribution.changes) > _CHANGES_AT_ONCE or takes_long(state, contribution, entity_type):
        return await asyncio.to_thread(apply_contribution, state, contribution, entity_type)
    return apply_contribution(state, contribution, entity_type)
