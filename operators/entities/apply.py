"""Applies contributions to the state of an entity. Pure: returns a new state."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal

from memory.records import Change, Contribution, Dropped
from memory.schema.model import PATCH, EntityType
from memory.times import microseconds_of, offset_of
from operators.aging import AgedEvent, AgingOperator
from operators.applied_positions import Sources, source_without_copy, with_hole, with_position
from operators.entities.entity_state import EntityState
from operators.entities.ticks import aging_properties
from operators.errors import RefusedChangeError
from operators.operator import Operand, Operator, State
from operators.patches import patch
from operators.patches.patch_edit import Patch
from operators.registry import BoundOperator, bound_operator
from operators.work import MAX_CONTRIBUTION_WORK, MAX_RETRACTION_WORK, WorkBudget

MAX_MESSAGE_IDS: Final = 20
"""Most ids of contributing messages in an entity's state."""
_ORDER_OF_OPS: Final = (("retract",), ("apply",), ("touch", "release"))
"""The order in which the changes of a contribution are applied."""
_SEARCHED_AT_ONCE: Final = 4_000
"""Characters that patches can search in one or two milliseconds."""


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of a contribution."""

    state: EntityState
    changed: bool
    """Whether the state differs from the given one, and must be written."""
    refused: tuple[Dropped, ...] = ()
    """The changes that could not be applied. All others were applied."""
    aged: tuple[tuple[str, AgedEvent], ...] = ()
    """The events whose time to live has expired, each with its property."""
    step: int = 0
    """The number of this contribution within its source, from 1. Only contributions that apply or retract something are counted."""


def apply_contribution(state: EntityState | None, contribution: Contribution, entity_type: EntityType) -> Applied:
    """Applies a whole contribution, exactly once.

    A position that was applied already changes nothing. A position below the last applied one is applied only if it is a hole. Retractions
    are applied first, regardless of their order in the contribution.

    Args:
        state: The entity's current state; None if there is none.
        contribution: The contribution.
        entity_type: The entity's type in the tenant's current schema.
    """
    state = state or EntityState(generation=contribution.generation)
    if contribution.kind == "tick":
        return _tick(state, entity_type, microseconds_of(contribution.time))
    sources = with_position(state.sources, contribution.source, contribution.position)
    if sources is None:
        return Applied(state, changed=False)
    update = _Update(state, entity_type, contribution)
    update.apply_changes()
    after = update.result(sources)
    step = after.steps[contribution.source] if after.steps != state.steps else 0
    return Applied(after, changed=True, refused=update.refused(), step=step)


def takes_long(state: EntityState | None, contribution: Contribution, entity_type: EntityType) -> bool:
    """Whether applying a contribution may take more than a few milliseconds; an estimate.

    Args:
        state: The entity's current state; None if there is none.
        contribution: The contribution to apply.
        entity_type: The entity's type.
    """
    searched = 0
    for name in {each.property for each in contribution.changes}:
        known = entity_type.property(name)
        if known is None or entity_type.op_of(known) != PATCH:
            continue
        changes = [each for each in contribution.changes if each.property == name]
        tag, inner = (PATCH, None) if state is None else state.properties.get(name, (PATCH, None))
        patches = [each for each in (_patch_of(change) for change in changes if change.op == "apply") if each is not None]
        retracted = sum(each.op == "retract" for each in changes)
        searched += patch.searched_text(inner if tag == PATCH else None, patches, retracted)
    return searched > _SEARCHED_AT_ONCE


def _patch_of(change: Change) -> Patch | None:
    try:
        return patch.patch_of(change.value, time=microseconds_of(change.event_time), source_id=change.source_id)
    except RefusedChangeError:
        return None


def skip(state: EntityState | None, contribution: Contribution) -> Applied:
    """Records a hole at the position of a dead-lettered contribution, so that its redrive is still applied after later ones.

    An entity keeps the newest :data:`operators.applied_positions.MAX_HOLES` holes of a source. An older hole is dropped with the reason
    ``hole_forgotten``: its redrive changes nothing.
    """
    state = state or EntityState(generation=contribution.generation)
    if contribution.kind == "tick":
        return Applied(state, changed=False)
    with_new_hole = with_hole(state.sources, contribution.source, contribution.position)
    if with_new_hole is None:
        return Applied(state, changed=False)
    sources, forgotten = with_new_hole
    refused = (Dropped(what="event", reason="hole_forgotten", count=forgotten),) if forgotten else ()
    return Applied(replace(state, sources=sources), changed=True, refused=refused)


def latest_known(state: EntityState, recorded_at: datetime | None) -> int | None:
    """The new :attr:`EntityState.known` after something recorded at ``recorded_at`` is applied."""
    if recorded_at is None:
        return state.known
    recorded = microseconds_of(recorded_at)
    return recorded if state.known is None else max(recorded, state.known)


def _tick(state: EntityState, entity_type: EntityType, now: int) -> Applied:
    """Advances event time. It does not change the version, since its effect follows from the earlier events."""
    properties = dict(state.properties)
    aged: list[tuple[str, AgedEvent]] = []
    for name, operator, inner in aging_properties(state, entity_type):
        after, named = operator.ask(operator.advance(inner, now))
        properties[name] = [properties[name][0], after]
        aged.extend((name, each) for each in named)
    if properties == state.properties:
        return Applied(state, changed=False)
    return Applied(replace(state, properties=properties), changed=True, aged=tuple(aged))


class _Update:
    """Applies one contribution change by change, and collects the new parts of the state."""

    def __init__(self, state: EntityState, entity_type: EntityType, contribution: Contribution) -> None:
        self._state = state
        self._type = entity_type
        self._contribution = contribution
        self._is_removal = contribution.cause in ("correction", "erasure", "retention", "drop")
        self._is_change = any(each.op in ("apply", "retract") for each in contribution.changes) or not contribution.changes
        """Whether it is a step of the entity's history. Touches and releases are none, since they may be no-ops in a rebuild."""
        self._applied = {(each.property, each.source_id) for each in contribution.changes if each.op == "apply"}
        self._properties = dict(state.properties)
        self._live = state.live
        self._extractors = dict(state.extractors)
        self._trust = dict(state.trust)
        self._unsupported = state.unsupported
        self._refused: Counter[tuple[Literal["patch", "property"], str]] = Counter()
        self._settled: set[tuple[str, str]] = set()
        """Property and id of the patches that are merged into the text and cannot be retracted."""
        self._messages: dict[str, int] = {}
        self._work = WorkBudget(MAX_CONTRIBUTION_WORK)
        self._retraction_work = WorkBudget(MAX_RETRACTION_WORK)
        # An update by another event is no news of this entity, so it does not advance its time.
        news = [each.event_time for each in contribution.changes if each.op == "apply" and not each.is_update]
        times = [microseconds_of(each) for each in news]
        local_times = [time + offset_of(each) for time, each in zip(times, news, strict=True)]
        self._last_time = _latest(times, state.last_time)
        self._newest_local = _latest(local_times, state.newest_local)

    def apply_changes(self) -> None:
        for ops in _ORDER_OF_OPS:
            for change in self._contribution.changes:
                if change.op in ops:
                    self._apply_or_refuse(change)

    def result(self, sources: Sources) -> EntityState:
        properties = self._without_what_aged()
        # 0 for a touch or a release without effect, as in a rebuild.
        version_step = int(self._is_change or self._properties != self._state.properties)
        return EntityState(
            version=self._state.version + version_step,
            # A settled patch that newer ones had replaced is refused, so it is still counted after its text was removed.
            live=0 if self._is_removal and not properties else self._live,
            last_time=self._last_time,
            last_local=None if self._newest_local == self._last_time else self._newest_local,
            sources=sources,
            message_ids=self._newest_messages(),
            properties=properties,
            extractors={name: count for name, count in self._extractors.items() if count > 0},
            trust=self._trust,
            unsupported=self._unsupported,
            generation=self._state.generation,
            known=latest_known(self._state, self._contribution.recorded_at),
            steps=self._steps(),
            forgotten_steps=self._state.forgotten_steps,
            erasures=self._state.erasures,
        )

    def refused(self) -> tuple[Dropped, ...]:
        return tuple(Dropped(what=what, reason=reason, count=count) for (what, reason), count in sorted(self._refused.items()))

    def _steps(self) -> dict[str, int]:
        before, source = self._state.steps, self._contribution.source
        return {**before, source: before.get(source, 0) + 1} if self._is_change else before

    def _apply_or_refuse(self, change: Change) -> None:
        bound = bound_operator(self._type, change.property)
        try:
            if bound is None:
                raise RefusedChangeError("unknown_property")
            self._apply(bound, change)
        except RefusedChangeError as error:
            if error.reason == "patch_settled":
                self._settled.add((change.property, change.source_id))
            self._refused["patch" if bound is not None and bound.tag == PATCH else "property", error.reason] += 1
        else:
            self._count(change)

    def _apply(self, bound: BoundOperator, change: Change) -> None:
        tag, operator = bound
        known_tag, before = self._properties.get(change.property, (tag, None))
        if known_tag != tag:
            raise RefusedChangeError("operator_changed")
        if operator is None:
            raise RefusedChangeError("operator_unavailable")
        after = self._changed(operator, before, change)
        if after is None:
            self._properties.pop(change.property, None)
        else:
            self._properties[change.property] = [tag, after]

    def _changed(self, operator: Operator, before: State | None, change: Change) -> State | None:
        """The operator's state after a change."""
        name = change.property, change.source_id
        if change.op in ("touch", "release"):
            return _aged(operator, before, change)
        if change.op == "retract":
            # A review of trust, or an erasure, applies what stays again.
            is_gone = self._is_removal and name not in self._applied
            return operator.remove(before, self._operand(change)) if is_gone else operator.retract(before, self._operand(change))
        if name in self._settled:
            # Its old form is in the text and cannot be retracted. The new one would put the old fact after newer ones.
            raise RefusedChangeError("patch_settled")
        return operator.apply(before, self._operand(change))

    def _operand(self, change: Change) -> Operand:
        time, offset = microseconds_of(change.event_time), offset_of(change.event_time)
        return Operand(
            value=change.value,
            time=time,
            source_id=change.source_id,
            newest=time if self._last_time is None else self._last_time,
            source=source_without_copy(self._contribution.source),
            position=self._contribution.position,
            order=change.order,
            work=self._retraction_work if change.op == "retract" else self._work,
            offset=offset,
            newest_local=time + offset if self._newest_local is None else self._newest_local,
        )

    def _count(self, change: Change) -> None:
        """Counts an applied or retracted change among the live ones."""
        times = _times(change)
        self._live += times
        if change.extractor:
            self._extractors[change.extractor] = max(0, self._extractors.get(change.extractor, 0) + times)
        if change.trust is not None and times:
            # A level without live changes leaves no trace, so that retracting an untrusted source gives the earlier bytes.
            count = self._trust.pop(change.trust, 0) + times
            self._trust |= {change.trust: count} if count > 0 else {}
        if change.unsupported:
            self._unsupported = max(0, self._unsupported + times)
        if change.op == "apply":
            time = microseconds_of(change.event_time)
            for message_id in change.message_ids:
                self._messages[message_id] = max(time, self._messages.get(message_id, time))

    def _without_what_aged(self) -> dict[str, list[Any]]:
        """All properties, pruned of parts that are too old to count, even if this contribution does not change them."""
        if self._last_time is None:
            return self._properties
        remaining: dict[str, list[Any]] = {}
        for name, (tag, state) in self._properties.items():
            bound = bound_operator(self._type, name)
            operator = bound.operator if bound is not None and bound.tag == tag else None
            young = state if operator is None else operator.prune(state, self._last_time, self._newest_local)
            if young is not None:
                remaining[name] = [tag, young]
        return remaining

    def _newest_messages(self) -> list[list[Any]]:
        if not self._messages:
            return self._state.message_ids
        newest = {message_id: time for time, message_id in self._state.message_ids}
        for message_id, time in self._messages.items():
            newest[message_id] = max(time, newest.get(message_id, time))
        ordered = sorted((-time, message_id) for message_id, time in newest.items())
        return [[-time, message_id] for time, message_id in ordered[:MAX_MESSAGE_IDS]]


def _latest(times: Iterable[int], known: int | None) -> int | None:
    return max([*times, *([] if known is None else [known])], default=None)


def _aged(operator: Operator, state: State | None, change: Change) -> State | None:
    if not isinstance(operator, AgingOperator):
        raise RefusedChangeError("not_aging")
    if state is None:
        return None
    time = microseconds_of(change.event_time)
    return operator.touch(state, change.source_id, time) if change.op == "touch" else operator.release(state, change.source_id, time)


def _times(change: Change) -> int:
    if change.is_update:
        return 0
    return {"apply": 1, "retract": -1}.get(change.op, 0)
