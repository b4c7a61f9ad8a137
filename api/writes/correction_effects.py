"""Whether a correction changes anything, or a revert has something to undo, judged before it is sent.

The store may not show the newest correction yet. So a memory in the store counts only if it includes the newest correction that was sent
for it (:mod:`runtime.redis.sent_corrections`). In doubt the correction is sent, and the events stage decides.
"""

from collections.abc import Sequence

from pydantic import JsonValue

from api.problems import ProblemError
from api.reads.entity_history import EntityHistory
from control.tenants import TenantDirectory
from memory.records import Change, Correction, HistoryEntry, Memory
from memory.schema.model import AGENT, EntityType
from memory.topics import EXTRACTIONS
from operators.applied_positions import COPIED
from operators.entities.correction import BY_HAND, MAX_REVERTIBLE
from operators.entities.history import Moment
from runtime.clocks import Clock
from runtime.errors import RedisUnavailableError
from runtime.redis.sent_corrections import SentCorrection, SentCorrections, digest_of
from stores.port import MemoryStore


class CorrectionEffects:
    """Compares corrections with the memories in the store.

    Args:
        sent: The newest corrections that were sent.
        store: The memories, and the history of entities.
        tenants: The schemas.
        clock: The time to which timelines of entities are aged.
    """

    def __init__(self, *, sent: SentCorrections, store: MemoryStore, tenants: TenantDirectory, clock: Clock) -> None:
        self._sent = sent
        self._store = store
        self._tenants = tenants
        self._clock = clock

    async def changes_nothing(self, memory: Memory, correction: Correction) -> bool:
        """Whether a memory certainly is as the correction makes it, or will be so once an equal correction arrives.

        Args:
            memory: The memory in the store.
            correction: A correction or an invalidation of it.
        """
        try:
            newest = await self._sent.newest(correction.tenant, memory.id)
        except RedisUnavailableError:
            return False
        is_equal = newest is not None and newest.digest == digest_of(correction)
        if correction.entity is not None:
            return await self._entity_has(memory, correction.entity.changes, newest, is_equal=is_equal)
        if newest is not None and newest.offset > memory.version:
            return is_equal
        return _event_has(memory, correction)

    async def has_none(self, memory: Memory, entity_type: EntityType | None) -> bool:
        """Whether a memory certainly has no correction that a revert could undo.

        Args:
            memory: The memory in the store.
            entity_type: The type of an entity. None: it is no entity, or its schema has the type no longer.
        """
        if memory.correction is not None:
            return False
        try:
            newest = await self._sent.newest(memory.tenant, memory.id)
        except RedisUnavailableError:
            return False
        if memory.kind != "entity":
            return newest is None or newest.offset <= memory.version
        steps = await self._history(memory).steps()
        if entity_type is None or not steps or not _are_complete(steps) or not _include(steps, newest):
            return False
        return not _revertible(steps, entity_type)

    async def _entity_has(self, memory: Memory, changes: Sequence[Change], newest: SentCorrection | None, *, is_equal: bool) -> bool:
        if not is_equal and not _values_are(memory, changes):
            return False
        history = self._history(memory)
        steps = await history.steps()
        if not _include(steps, newest):
            return is_equal
        try:
            # The steps and the memory may reach the store at different times.
            now = await history.at(Moment(), entity_key=memory.entity_key or "", now=self._clock.now(), steps=steps)
        except ProblemError:
            return False
        return now is not None and _values_are(now, changes)

    def _history(self, memory: Memory) -> EntityHistory:
        return EntityHistory(store=self._store, tenants=self._tenants, tenant=memory.tenant, entity=memory.id)


def is_invalidated(memory: Memory) -> bool:
    """Whether an invalidation of the memory is in force."""
    return memory.correction is not None and memory.correction.action == "invalidate"


def _event_has(memory: Memory, correction: Correction) -> bool:
    """Whether an event has all values of a correction, and is as valid."""
    if correction.action == "invalidate" or is_invalidated(memory):
        return correction.action == "invalidate" and is_invalidated(memory)
    fields = correction.fields
    return (
        fields.content in (None, memory.content)
        and all(memory.properties.get(name) == value for name, value in (fields.properties or {}).items())
        and fields.importance in (None, memory.importance)
        and fields.keywords in (None, memory.keywords)
        and fields.date in (None, memory.date)
        and (fields.event_time is None or (memory.date is None and fields.event_time == memory.event_time))
    )


def _values_are(memory: Memory, changes: Sequence[Change]) -> bool:
    """Whether an entity has the values that changes set."""
    return all(_is_set(memory.properties.get(each.property), each.value) for each in changes)


def _is_set(present: JsonValue, value: JsonValue) -> bool:
    if isinstance(value, dict):
        lines = present if isinstance(present, list) else [] if present is None else [present]
        return "\n".join(map(str, lines)) == value["replace"]
    return present == value


def _include(steps: Sequence[HistoryEntry], newest: SentCorrection | None) -> bool:
    """Whether the steps include the newest correction that was sent."""
    if newest is None:
        return True
    source = f"{EXTRACTIONS.name}/{newest.partition}"
    positions = (each.contribution.position for each in steps if each.number and _source_of(each) == source)
    return max(positions, default=-1) >= newest.offset


def _are_complete(steps: Sequence[HistoryEntry]) -> bool:
    """Whether no earlier step was dropped."""
    first: dict[str, int] = {}
    for step in steps:
        if step.number:
            first[step.contribution.source] = min(step.number, first.get(step.contribution.source, step.number))
    return all(number == 1 for number in first.values())


def _revertible(steps: Sequence[HistoryEntry], entity_type: EntityType) -> int:
    """Number of corrections by hand in force, at most as many as can be reverted."""
    by_hand = [
        (step.contribution.position, change)
        for step in steps
        for change in step.contribution.changes
        if change.extractor == BY_HAND and _is_correctable(entity_type, change.property)
    ]
    standing: list[str] = []
    for _, change in sorted(by_hand, key=lambda one: one[0]):
        if change.op == "retract":
            standing = [each for each in standing if each != change.source_id]
        elif change.source_id not in standing:
            standing = [*standing, change.source_id][-MAX_REVERTIBLE:]
    return len(standing)


def _is_correctable(entity_type: EntityType, name: str) -> bool:
    """Whether a property is no block: edits of blocks are undone one by one, not reverted."""
    found = entity_type.property(name)
    return found is not None and entity_type.op_of(found) != AGENT


def _source_of(step: HistoryEntry) -> str:
    return step.contribution.source.partition(COPIED)[0]
