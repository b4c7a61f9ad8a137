"""Fans the events and patches of one extraction out to the entities that they drive.

``entity := SELECT OP(event.content) FROM events WHERE filters GROUP BY keys`` (VikingMem 2.2.2): each event that meets an entity type's
filters, and has all its keys, changes the properties whose aggregates name the event's type.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from pydantic import JsonValue

from memory.errors import KeyFormatError
from memory.keys import entity_key, entity_key_parts
from memory.records import Change, Contribution, Dropped, EntityPatch, Event, Extraction
from memory.schema.model import CONTENT, AggregateExpression, EntityType, MemorySchema
from operators.conditions import holds
from operators.statistics import STATISTICS

_LONGEST_KEY_PART: Final = 256

EntityName = tuple[str, str]
"""An entity type's name and the entity's key."""


@dataclass(frozen=True, slots=True)
class _Routed:
    changes: dict[EntityName, list[Change]] = field(default_factory=dict)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, entity: EntityName, change: Change) -> None:
        self.changes.setdefault(entity, []).append(change)


def contributions_of(
    extraction: Extraction, schema: MemorySchema, *, source: str, position: int, previous: Sequence[Contribution] = ()
) -> list[Contribution]:
    """What an extraction contributes to entities: one contribution for each, with all its changes.

    Args:
        extraction: What was extracted from one window.
        schema: The tenant's schema. Properties under an operator that does not exist yet get nothing: :func:`unavailable_properties`.
        source: The topic and partition that the extraction lies in.
        position: Its offset there.
        previous: What this function returned when the same window was extracted before, in the same generation: all that it applied is
            taken back, in front of what this extraction applies. Remember what is returned now in its place.

    Returns:
        Contributions in the order of entity type and key. Empty if the extraction drives no entity, and none did before.
    """
    changes: dict[EntityName, list[Change]] = {}
    for before in previous:
        taken_back = [_retraction(each) for each in before.changes if each.op == "apply"]
        if taken_back:
            changes.setdefault((before.entity_type, before.entity_key), []).extend(taken_back)
    for entity, applied in _route(extraction, schema).changes.items():
        changes.setdefault(entity, []).extend(applied)
    return [
        Contribution(
            tenant=extraction.tenant,
            user=extraction.user,
            entity_type=entity_type,
            entity_key=key,
            source=source,
            position=position,
            changes=made,
            time=extraction.window_end,
            schema_name=schema.name,
            generation=extraction.generation,
        )
        for (entity_type, key), made in sorted(changes.items())
    ]


def left_out(extraction: Extraction, schema: MemorySchema) -> tuple[Dropped, ...]:
    """What of an extraction finds no way to an entity, and why, for counters and logs.

    Reasons: for events ``no_key`` (a property to group by is missing or too long; the entity type is passed over for this event); for
    patches ``unknown_entity_type``, ``not_patched`` (no such property, or one that events drive), ``bad_key`` and ``foreign_key`` (the
    key names another user or session than the window's: nobody's words change another's entity).
    """
    reasons = _route(extraction, schema).left_out
    return tuple(
        Dropped(what="patch" if what == "patch" else "event", reason=reason, count=count)
        for (what, reason), count in sorted(reasons.items())
    )


def unavailable_properties(schema: MemorySchema) -> tuple[str, ...]:
    """The properties that stay empty since their operator does not exist yet, as ``entity_type.property (OP)``."""
    return tuple(
        f"{entity.name}.{each.name} ({each.aggregate.op})"
        for entity in schema.entity_types
        for each in entity.properties
        if each.aggregate and not _is_available(each.aggregate)
    )


def _is_available(aggregate: AggregateExpression) -> bool:
    return aggregate.op in STATISTICS or aggregate.op == "PATCH"


def _retraction(change: Change) -> Change:
    return change.model_copy(update={"op": "retract", "message_ids": []})


def _route(extraction: Extraction, schema: MemorySchema) -> _Routed:
    routed = _Routed()
    for event in extraction.events:
        for entity_type in schema.entity_types:
            _route_event(event, entity_type, routed)
    for patch in extraction.patches:
        reason = _refusal(patch, extraction, schema)
        if reason:
            routed.left_out["patch", reason] += 1
        else:
            routed.add((patch.entity_type, patch.entity_key), _change_of_patch(patch, extraction))
    return routed


def _route_event(event: Event, entity_type: EntityType, routed: _Routed) -> None:
    changes = _changes_of_event(event, entity_type)
    if not changes or not all(holds(condition, event) for condition in entity_type.filters):
        return
    parts = [_key_part(key, event) for key in entity_type.keys]
    key = _joined([part for part in parts if part])
    if key is None or not all(parts):
        routed.left_out["event", "no_key"] += 1
        return
    for change in changes:
        routed.add((entity_type.name, key), change)


def _changes_of_event(event: Event, entity_type: EntityType) -> list[Change]:
    changes = []
    for each in entity_type.properties:
        aggregate = each.aggregate
        if aggregate is None or aggregate.event_type != event.type or aggregate.op not in STATISTICS:
            continue
        value = _fed(event, aggregate)
        if value is None and aggregate.event_property is not None:
            continue
        changes.append(
            Change(
                op="apply",
                property=each.name,
                source_id=event.id,
                value=None if aggregate.op == "COUNT" else value,
                event_time=min(event.event_time, event.said_at),
                message_ids=event.message_ids,
                extractor=event.extractor,
            )
        )
    return changes


def _fed(event: Event, aggregate: AggregateExpression) -> JsonValue:
    if aggregate.event_property is None:
        return None
    return event.content if aggregate.event_property == CONTENT else event.properties.get(aggregate.event_property)


def _key_part(key: str, event: Event) -> str | None:
    """One part of an event's key: white space is joined, so that a line break makes no second entity."""
    if key == "user":
        return event.user
    if key == "session":
        return event.session
    if key == "event_type":
        return event.type
    if key == "day":
        return _day(event.event_time)
    value = event.properties.get(key)
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        return None
    part = " ".join(str(value).split())
    return part if 0 < len(part) <= _LONGEST_KEY_PART else None


def _day(time: datetime) -> str:
    return time.astimezone(UTC).date().isoformat()


def _joined(parts: Sequence[str]) -> str | None:
    try:
        return entity_key(*parts)
    except KeyFormatError:
        return None


def _refusal(patch: EntityPatch, extraction: Extraction, schema: MemorySchema) -> str | None:
    """Why a patch goes to no entity; None if it does."""
    entity_type = schema.entity_type(patch.entity_type)
    if entity_type is None:
        return "unknown_entity_type"
    if patch.field not in {each.name for each in entity_type.patched_properties()}:
        return "not_patched"
    try:
        parts = entity_key_parts(patch.entity_key)
    except KeyFormatError:
        return "bad_key"
    if len(parts) != len(entity_type.keys) or any(len(part) > _LONGEST_KEY_PART for part in parts):
        return "bad_key"
    own = {"user": extraction.user, "session": extraction.session}
    if any(part != own.get(key, part) for key, part in zip(entity_type.keys, parts, strict=True)):
        return "foreign_key"
    return None


def _change_of_patch(patch: EntityPatch, extraction: Extraction) -> Change:
    return Change(
        op="apply",
        property=patch.field,
        source_id=patch.id,
        value={"search": patch.search, "replace": patch.replace},
        event_time=min(patch.event_time, extraction.window_end),
        message_ids=patch.message_ids,
        extractor=extraction.extractor,
    )
