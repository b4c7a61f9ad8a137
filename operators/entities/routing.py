"""Routes the events and patches of one extraction to the entities that they change.

``entity := SELECT OP(event.content) FROM events WHERE filters GROUP BY keys`` (VikingMem 2.2.2). An event that meets an entity type's
filters, and has all its keys, changes the properties whose aggregates name the event's type.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, datetime
from itertools import product
from typing import Final, Literal, NamedTuple, cast

from pydantic import JsonValue

from memory.dates.event_date import EventDate, middle_moment
from memory.errors import KeyFormatError
from memory.keys import LONGEST_KEY_PART, entity_key, entity_key_parts, key_part
from memory.records import Change, Contribution, Dropped, EntityPatch, Event, Extraction
from memory.records.wording import attributed_text
from memory.relations import NODES, nodes_of
from memory.schema.model import CALENDAR_KEYS, CONTENT, AggregateExpression, EntityType, MemorySchema
from memory.schema.operator_specs import Input
from memory.times import microseconds_of
from operators.entities.entity_keys import spelled_alike
from operators.entities.filters import matches
from operators.entities.order import order_of
from operators.registry import operators

_MAX_KEYS: Final = 20
"""Most entities of one type that one event changes, if a part of its key is a list."""

EntityRef = tuple[str, str]
"""An entity type and the key of one of its entities."""


EntityChanges = dict[EntityRef, list[Change]]


def contributions_of(
    extraction: Extraction,
    schema: MemorySchema,
    *,
    source: str,
    position: int,
    previous: Sequence[Contribution] = (),
    events: Sequence[Event] | None = None,
    recorded_at: datetime | None = None,
    cause: Literal["extraction", "correction", "erasure", "retention", "drop"] = "extraction",
    may_reach: Callable[[str, str], bool] | None = None,
) -> list[Contribution]:
    """The contributions of an extraction: one for each entity, with all its changes.

    Args:
        extraction: The extraction of one window.
        schema: The tenant's schema. A property whose operator does not exist yet gets no changes.
        source: The topic and partition that the extraction is in.
        position: Its offset there.
        previous: The contributions of the last extraction of the same window in the same generation. All that they applied is retracted
            first.
        events: The events in force, corrections applied; None: all events as extracted.
        recorded_at: Append time of the extraction, or of its correction; None: not from a log.
        cause: Whether the extraction is new, corrected, erased, loses old results, or ends with its generation.
        may_reach: Whether the change of an event or patch may reach an entity, by the entity's type and the id. Default: each may.

    Returns:
        Contributions in the order of entity type and key. Empty if neither this extraction nor the last one changes an entity.
    """
    changes: EntityChanges = {}
    made_under: dict[EntityRef, tuple[str, int]] = {}
    for before in previous:
        # Types and fields that the schema no longer has are retracted under the schema that applied them.
        made_under[before.entity_type, before.entity_key] = before.schema_name, before.schema_revision
        retractions = [each.model_copy(update={"op": "retract", "message_ids": []}) for each in before.changes if each.op == "apply"]
        if retractions:
            changes.setdefault((before.entity_type, before.entity_key), []).extend(retractions)
    for entity, applied in _route(extraction, schema, events).items():
        reaching = applied if may_reach is None else [each for each in applied if may_reach(entity[0], each.source_id)]
        if reaching:
            changes.setdefault(entity, []).extend(reaching)
    own = schema.name, extraction.schema_revision
    made_under = {entity: own if schema.entity_type(entity[0]) is not None else made_under[entity] for entity in changes}
    return [
        Contribution(
            tenant=extraction.tenant,
            user=extraction.user,
            entity_type=entity_type,
            entity_key=key,
            source=source,
            position=position,
            changes=entity_changes,
            time=extraction.window_end,
            schema_name=made_under[entity_type, key][0],
            schema_revision=made_under[entity_type, key][1],
            generation=extraction.generation,
            recorded_at=recorded_at,
            cause=cause,
        )
        for (entity_type, key), entity_changes in sorted(changes.items())
    ]


def left_out(extraction: Extraction, schema: MemorySchema) -> tuple[Dropped, ...]:
    """The events and patches that reach no entity, with the reason, for counters.

    An event is left out as ``no_key`` if a grouping property is missing or too long, and as ``inexact_date`` if its date is less exact than
    the key: an event "some day in May" counts for no day. A patch is left out as ``unknown_entity_type``, ``not_patched`` (no such
    property, or one that events change), ``bad_key``, or ``foreign_key``: the key names another user or session than the window's, and a
    user's messages never change another user's entity.
    """
    reasons: Counter[tuple[Literal["event", "patch"], str]] = Counter()
    for event, entity_type in product(extraction.events, schema.entity_types):
        if _inputs(event, entity_type, schema) and not (found := _keys_of(event, entity_type)).keys:
            reasons["event", "inexact_date" if found.is_inexact else "no_key"] += 1
    for patch in extraction.patches:
        reason = _left_out_reason(patch, extraction, schema)
        if reason:
            reasons["patch", reason] += 1
    return tuple(Dropped(what=what, reason=reason, count=count) for (what, reason), count in sorted(reasons.items()))


def _route(extraction: Extraction, schema: MemorySchema, events: Sequence[Event] | None = None) -> EntityChanges:
    routed: EntityChanges = {}
    # The extracted order: corrected and invalidated events do not change the places of the others.
    places = {event.id: place for place, event in enumerate(extraction.events)}
    for event in extraction.events if events is None else events:
        order = order_of(event.said_at, sequence=extraction.sequence, place=places[event.id])
        for entity_type in schema.entity_types:
            _route_event(event, order, entity_type, schema, routed)
    for patch in extraction.patches:
        if _left_out_reason(patch, extraction, schema) is None:
            entity = patch.entity_type, key_of_patch(patch, schema)
            routed.setdefault(entity, []).append(_change_of_patch(patch, extraction))
    return routed


def _route_event(event: Event, order: int, entity_type: EntityType, schema: MemorySchema, routed: EntityChanges) -> None:
    inputs = _inputs(event, entity_type, schema)
    keys = _keys_of(event, entity_type).keys if inputs else ()
    changes = [(each.kind == "detailed", _change_of_event(event, order, each)) for each in inputs] if keys else []
    for key in sorted(keys)[:_MAX_KEYS]:
        for is_detailed, change in changes:
            own = _with_key(change, entity_type, key) if is_detailed else change
            routed.setdefault((entity_type.name, key), []).append(own)


class _Keys(NamedTuple):
    keys: frozenset[str]
    """Keys of the entities that an event changes; none if a part is missing."""
    is_inexact: bool
    """Whether the event's date is less exact than a part."""


def _keys_of(event: Event, entity_type: EntityType) -> _Keys:
    parts = [_key_parts(key, event) for key in entity_type.keys]
    keys = frozenset(key for each in product(*parts) if (key := _key_or_none(each)) is not None)
    return _Keys(keys, any(not part and name in CALENDAR_KEYS for name, part in zip(entity_type.keys, parts, strict=True)))


class _Input(NamedTuple):
    property: str
    """The property that an event changes."""
    kind: Input
    """The kind of value that its operator takes."""
    value: JsonValue
    """The value in the event."""


def _inputs(event: Event, entity_type: EntityType, schema: MemorySchema) -> list[_Input]:
    """The properties of an entity type that an event changes; none if a filter excludes the event."""
    inputs: list[_Input] = []
    for each in entity_type.properties:
        aggregate = each.aggregate
        if aggregate is None or not schema.feeds(aggregate, event.type) or aggregate.op not in operators():
            continue
        value = _input_of(event, aggregate)
        if value is not None or aggregate.event_property is None:
            inputs.append(_Input(each.name, operators()[aggregate.op].spec.input, value))
    return inputs if inputs and all(matches(event, condition) for condition in entity_type.filters) else []


def _change_of_event(event: Event, order: int, changed: _Input) -> Change:
    return Change(
        op="apply",
        property=changed.property,
        source_id=event.id,
        value=_operand_value(event, changed.value, changed.kind),
        event_time=min(middle_moment(event.event_time, event.date), event.said_at),
        order=order,
        message_ids=event.message_ids,
        extractor=event.extractor,
        unsupported=event.unsupported,
    )


def _with_key(change: Change, entity_type: EntityType, key: str) -> Change:
    """The change with the parts of its entity's key."""
    parts: dict[str, JsonValue] = dict(zip(entity_type.keys, entity_key_parts(key), strict=True))
    return change.model_copy(update={"value": {**cast(dict[str, JsonValue], change.value), "keys": parts}})


def _operand_value(event: Event, value: JsonValue, wanted: Input) -> JsonValue:
    """The operator's input from an event."""
    if wanted == "event":
        return None
    if wanted not in ("whole", "detailed", "embedded"):
        return value
    whole: dict[str, JsonValue] = {
        "text": attributed_text(event) if value is None else str(value),
        "importance": event.importance,
        "message_ids": list(event.message_ids),
        "user": event.user,
        "window_id": event.window_id,
        "said_at": microseconds_of(event.said_at),
        "date": event.date,
    }
    if wanted == "whole":
        return whole
    detailed: dict[str, JsonValue] = {
        **whole,
        "type": event.type,
        "session": event.session,
        "properties": event.properties,
    }
    return detailed if wanted == "detailed" else {**detailed, "vector": event.vector}


def _input_of(event: Event, aggregate: AggregateExpression) -> JsonValue:
    if aggregate.event_property is None:
        return None
    return attributed_text(event) if aggregate.event_property == CONTENT else event.properties.get(aggregate.event_property)


def _key_parts(key: str, event: Event) -> list[str]:
    """The values of one part of an event's key: several if its property is a list, none if it is missing."""
    if key == NODES:
        return nodes_of(event.properties)
    values = event.properties.get(key)
    if isinstance(values, list):
        return [part for part in dict.fromkeys(map(key_part, values)) if part]
    part = _key_part(key, event)
    return [part] if part else []


def _key_part(key: str, event: Event) -> str | None:
    """One part of an event's key."""
    if key == "user":
        return event.user
    if key == "session":
        return event.session
    if key == "event":
        return event.id
    if key == "event_type":
        return event.type
    if key in CALENDAR_KEYS:
        return _calendar_part(key, event.event_time) if event.date is None else _calendar_part_of_date(key, EventDate.parse(event.date))
    return key_part(event.properties.get(key))


def _calendar_part(key: str, time: datetime) -> str:
    """The hour, day, ISO week or month of a time in its own UTC offset: ``2026-05-04T13``, ``2026-05-04``, ``2026-W19``, ``2026-05``.

    The offset is that of the user's time zone, if the message or the tenant names one. A date without a time has the same days.
    """
    return f"{time.date().isoformat()}T{time.hour:02d}" if key == "hour" else _part_of_day(key, time.date())


def _calendar_part_of_date(key: str, known: EventDate) -> str | None:
    """The same of a date; None where it is not known so exactly. Its days are the speaker's own, in whatever zone."""
    if known.first is None or known.last is None or key == "hour":
        return None
    first, last = _part_of_day(key, known.first), _part_of_day(key, known.last)
    return first if first == last else None


def _part_of_day(key: str, day: date) -> str:
    if key == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04d}-W{week:02d}"
    return day.isoformat()[: len("2026-05") if key == "month" else None]


def _key_or_none(parts: Sequence[str]) -> str | None:
    try:
        return entity_key(*parts)
    except KeyFormatError:
        return None


def _left_out_reason(patch: EntityPatch, extraction: Extraction, schema: MemorySchema) -> str | None:
    """Why a patch reaches no entity; None if it does."""
    entity_type = schema.entity_type(patch.entity_type)
    if entity_type is None:
        return "unknown_entity_type"
    if patch.field not in {each.name for each in entity_type.patched_properties()}:
        return "not_patched"
    try:
        parts = entity_key_parts(patch.entity_key)
    except KeyFormatError:
        return "bad_key"
    if len(parts) != len(entity_type.keys) or any(len(part) > LONGEST_KEY_PART for part in parts):
        return "bad_key"
    own = {"user": extraction.user, "session": extraction.session}
    if any(part != own.get(key, part) for key, part in zip(entity_type.keys, parts, strict=True)):
        return "foreign_key"
    return None


def key_of_patch(patch: EntityPatch, schema: MemorySchema) -> str:
    """The key of the entity that a patch reaches, spelled as events spell it: an extractor may write a number differently.

    Args:
        patch: One that names a key.
        schema: The tenant's schema.
    """
    entity_type = schema.entity_type(patch.entity_type)
    if entity_type is None:
        return patch.entity_key
    return entity_key(*spelled_alike(entity_key_parts(patch.entity_key), entity_type))


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
