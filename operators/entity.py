"""The state of one entity and what contributions do to it. Pure: state and contribution in, state out."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson

from memory.records import Change, Contribution, Dropped
from memory.schema.model import EntityProperty, EntityType, Op
from operators import patch, window
from operators.errors import EntityStateError, RefusedChangeError
from operators.sources import Sources, admitted, with_hole
from operators.statistics import DAILY_STATISTICS, STATISTICS

MAX_MESSAGE_IDS: Final = 20

_DAILY: Final = "/day"
_FORMAT: Final = 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_DAY_IN_MICROSECONDS: Final = 24 * 60 * 60 * 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityState:
    """All that is kept of one entity; bounded however many contributions there were."""

    version: int = 0
    """How many contributions have been applied."""
    live: int = 0
    """How many changes have been applied and not taken back."""
    last_time: int | None = None
    """The newest event time of an applied change, in microseconds since 1970 (UTC). It never goes back, not even by a retraction."""
    sources: Sources = field(default_factory=dict)
    """By source, what has been applied of it."""
    message_ids: list[list[Any]] = field(default_factory=list)
    """``[time, id]`` of the newest messages that contributed, newest first. A retraction does not take them back: its window remains."""
    properties: dict[str, list[Any]] = field(default_factory=dict)
    """By property, ``[tag, state]``: the tag names the operator that the state belongs to."""
    extractors: dict[str, int] = field(default_factory=dict)
    """How many of the live changes each extractor gave."""
    generation: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing is left that would make a memory: it was all taken back, or never there."""
        return self.live <= 0


@dataclass(frozen=True, slots=True)
class Applied:
    """What a contribution has done."""

    state: EntityState
    changed: bool
    """Whether the state differs from the one given, and has to be written."""
    refused: tuple[Dropped, ...] = ()
    """What of the contribution could not be applied; the rest was."""


def apply_contribution(state: EntityState | None, contribution: Contribution, entity_type: EntityType) -> Applied:
    """Applies a contribution whole, once.

    A position of a source that has been applied changes nothing, nor does one below the last applied unless it was skipped. Retractions
    come before applications, whatever their order in the contribution.

    Args:
        state: The entity so far; None if there is none.
        contribution: What to apply.
        entity_type: The entity's type, as the tenant's schema has it now.
    """
    if state is None:
        state = EntityState(generation=contribution.generation)
        if contribution.kind != "change":
            return Applied(state, changed=False)
    sources = admitted(state.sources, contribution.source, contribution.position)
    if sources is None:
        return Applied(state, changed=False)
    if contribution.kind != "change":
        return Applied(replace(state, sources=sources), changed=True)
    work = _Work(state, entity_type, contribution)
    return Applied(work.result(sources), changed=True, refused=work.refused())


def skip(state: EntityState | None, contribution: Contribution) -> Applied:
    """Notes that a contribution was skipped (dead-lettered): it may come again, behind those that follow it, and is then applied.

    A source keeps its newest :data:`operators.sources.MAX_HOLES`; the oldest is given up with the reason ``hole_forgotten``, and would
    change nothing any more.
    """
    state = state or EntityState(generation=contribution.generation)
    noted = with_hole(state.sources, contribution.source, contribution.position)
    if noted is None:
        return Applied(state, changed=False)
    sources, forgotten = noted
    refused = (Dropped(what="event", reason="hole_forgotten", count=forgotten),) if forgotten else ()
    return Applied(replace(state, sources=sources), changed=True, refused=refused)


def to_bytes(state: EntityState) -> bytes:
    """The state as JSON. Equal states give equal bytes."""
    fields = {
        "format": _FORMAT,
        "version": state.version,
        "live": state.live,
        "last_time": state.last_time,
        "sources": state.sources,
        "message_ids": state.message_ids,
        "properties": state.properties,
        "extractors": state.extractors,
        "generation": state.generation,
    }
    return orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)


def from_bytes(raw: bytes) -> EntityState:
    """The state that :func:`to_bytes` wrote.

    Raises:
        EntityStateError: If the bytes are something else, or of a newer format.
    """
    try:
        fields = orjson.loads(raw)
        if fields.pop("format") != _FORMAT:
            raise EntityStateError(f"an entity's state is not of format {_FORMAT}; drop the entities' tables and rebuild them from the log")
        return EntityState(**fields)
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        raise EntityStateError(
            f"not the state of an entity: {raw[:80]!r}; drop the entities' tables and rebuild them from the log"
        ) from error


def tag_of(op: Op, entity_type: EntityType) -> str:
    """The mark of a property's state: a state under another mark belongs to an older schema and cannot be used."""
    return f"{op}{_DAILY}" if entity_type.window_days and op in STATISTICS else op


def _day_of(time: int) -> int:
    """The number of the UTC day of a time in microseconds since 1970."""
    return time // _DAY_IN_MICROSECONDS


class _Work:
    """One contribution being applied: collects the new parts of the state."""

    def __init__(self, state: EntityState, entity_type: EntityType, contribution: Contribution) -> None:
        self._state = state
        self._type = entity_type
        self._properties = dict(state.properties)
        self._live = state.live
        self._extractors = dict(state.extractors)
        self._refused: dict[tuple[str, str], int] = {}
        self._pinned: set[tuple[str, str]] = set()
        self._messages: dict[str, int] = {}
        changes = [(_microseconds(each.event_time), each) for each in contribution.changes]
        times = [time for time, each in changes if each.op == "apply"]
        self._last_time = max([*times, *([] if state.last_time is None else [state.last_time])], default=None)
        for time, each in changes:
            if each.op == "retract":
                self._try(each, time)
        for time, each in changes:
            if each.op == "apply":
                self._try(each, time)

    def result(self, sources: Sources) -> EntityState:
        return EntityState(
            version=self._state.version + 1,
            live=self._live,
            last_time=self._last_time,
            sources=sources,
            message_ids=self._newest_messages(),
            properties=self._in_window(),
            extractors={name: count for name, count in self._extractors.items() if count > 0},
            generation=self._state.generation,
        )

    def refused(self) -> tuple[Dropped, ...]:
        return tuple(
            Dropped(what="patch" if what == "patch" else "property", reason=reason, count=count)
            for (what, reason), count in sorted(self._refused.items())
        )

    def _try(self, change: Change, time: int) -> None:
        each = self._type.property(change.property)
        op = self._type.op_of(each) if each else None
        try:
            if each is None or op is None:
                raise RefusedChangeError("unknown_property")
            self._change(each, op, change, time)
        except RefusedChangeError as error:
            if error.reason == "patch_settled":
                self._pinned.add((change.property, change.source_id))
            refused = ("patch" if op == "PATCH" else "property", error.reason)
            self._refused[refused] = self._refused.get(refused, 0) + 1
            return
        one = 1 if change.op == "apply" else -1
        self._live += one
        if change.extractor:
            self._extractors[change.extractor] = max(0, self._extractors.get(change.extractor, 0) + one)
        if change.op == "apply":
            for message_id in change.message_ids:
                self._messages[message_id] = max(time, self._messages.get(message_id, time))

    def _change(self, each: EntityProperty, op: Op, change: Change, time: int) -> None:
        tag = tag_of(op, self._type)
        known_tag, before = self._properties.get(each.name, (tag, None))
        if known_tag != tag:
            raise RefusedChangeError("operator_changed")
        after = self._patched(before, each, change, time) if op == "PATCH" else self._counted(before, op, change, time)
        if after is None:
            self._properties.pop(each.name, None)
        else:
            self._properties[each.name] = [tag, after]

    def _counted(self, before: Any, op: Op, change: Change, time: int) -> Any:
        times = 1 if change.op == "apply" else -1
        if op not in STATISTICS:
            raise RefusedChangeError("operator_unavailable")
        if self._type.window_days is None:
            return STATISTICS[op].add(before, change.value, times)
        newest = _day_of(time if self._last_time is None else self._last_time)
        statistic = DAILY_STATISTICS[op]
        return window.add(statistic, before, change.value, times, day=_day_of(time), newest=newest, length=self._type.window_days)

    def _patched(self, before: Any, each: EntityProperty, change: Change, time: int) -> Any:
        one = patch.patch_of(change.value, time=time, source_id=change.source_id)
        if change.op == "retract":
            return patch.retract(before, one, each.value_type)
        if (change.property, change.source_id) in self._pinned:
            # What it replaces has settled and cannot be taken out: laid beside it, the old fact would stand again after its successors.
            raise RefusedChangeError("patch_settled")
        return patch.apply(before, one, each.value_type)

    def _in_window(self) -> dict[str, list[Any]]:
        """The properties without the days that have fallen out of the window, also of those that this contribution does not change."""
        length = self._type.window_days
        if length is None or self._last_time is None:
            return self._properties
        kept: dict[str, list[Any]] = {}
        for name, (tag, days) in self._properties.items():
            if not tag.endswith(_DAILY):
                kept[name] = [tag, days]
            elif inside := window.pruned(days, newest=_day_of(self._last_time), length=length):
                kept[name] = [tag, inside]
        return kept

    def _newest_messages(self) -> list[list[Any]]:
        if not self._messages:
            return self._state.message_ids
        newest = {message_id: time for time, message_id in self._state.message_ids}
        for message_id, time in self._messages.items():
            newest[message_id] = max(time, newest.get(message_id, time))
        ordered = sorted((-time, message_id) for message_id, time in newest.items())
        return [[-time, message_id] for time, message_id in ordered[:MAX_MESSAGE_IDS]]


def _microseconds(time: datetime) -> int:
    return (time - _EPOCH) // _MICROSECOND
