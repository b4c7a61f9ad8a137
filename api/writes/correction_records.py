"""Corrections as records of the log, checked against the memory and its schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import orjson
from pydantic import JsonValue

from api.auth.caller import Caller
from api.problems import ProblemError
from memory.records import Change, Correction, EntityCorrection, EventFields, EventSeen, Memory
from memory.records.base import path_of_unwritable
from memory.schema.coerce import coerce_properties
from memory.schema.model import EntityType, MemorySchema
from memory.schema.node import suggestion
from operators.entities.correction import changes_of
from operators.errors import UncorrectableFieldError

_MAX_PROPERTIES_BYTES: Final = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionRequest:
    """A request to correct a memory, and its caller."""

    id: str
    caller: Caller
    memory: Memory
    """The memory as the caller may read it."""
    reason: str
    time: datetime


def correction_of_event(request: CorrectionRequest, fields: EventFields, *, action: str = "correct") -> Correction:
    """A correction of an event.

    Raises:
        ProblemError: 422 if the memory is no event, or has no source messages.
    """
    memory = request.memory
    if memory.kind != "event":
        raise made_of_events(f"a {memory.kind} is made of events; correct or invalidate those events")
    if memory.window_id is None or not memory.message_ids:
        raise ProblemError(422, "invalid", "an event without source messages cannot be corrected")
    seen = EventSeen(window_id=memory.window_id, type=memory.type, content=memory.content, message_ids=memory.message_ids)
    return _correction(request, action=action, event=seen, fields=fields)


def correction_of_entity(request: CorrectionRequest, changes: list[Change], *, action: str = "correct") -> Correction:
    """A correction of the fields of an entity."""
    memory = request.memory
    ref = request.caller.tenant.schema_of(memory.generation)
    entity = EntityCorrection(
        entity_type=memory.type,
        entity_key=memory.entity_key or "",
        changes=changes,
        schema_name=ref.name,
        schema_revision=ref.revision,
    )
    return _correction(request, action=action, entity=entity)


def entity_changes(request: CorrectionRequest, fields: EventFields, schema: MemorySchema, max_future: timedelta) -> list[Change]:
    """The changes of an entity's state that set its properties.

    Raises:
        ProblemError: 422 if something else is set, a property cannot be corrected, or its time is too far in the future.
    """
    memory = request.memory
    others = [name for name in ("content", "date", "importance", "keywords") if getattr(fields, name) is not None]
    if others or not fields.properties:
        raise ProblemError(422, "invalid", "an entity has only properties to set, and an event_time: the time since which they hold")
    # An event may have a future date; its entities then get the time at which it was said. A corrected value moves their time itself.
    if fields.event_time is not None and fields.event_time > request.time + max_future:
        raise ProblemError(
            422,
            "invalid",
            f"event_time: {fields.event_time.isoformat()} is more than {max_future.total_seconds():g} s ahead of the service's clock; "
            "it is the time since which the values hold",
        )
    entity_type = _entity_type(memory, schema)
    try:
        return changes_of(entity_type, fields.properties, source_id=request.id, newest=memory.event_time, since=fields.event_time)
    except UncorrectableFieldError as error:
        if error.is_of_events:
            raise made_of_events(str(error), property=error.field) from error
        raise ProblemError(422, "uncorrectable", str(error), members={"property": error.field}) from error


def event_properties(memory: Memory, properties: Mapping[str, JsonValue] | None, schema: MemorySchema) -> dict[str, JsonValue] | None:
    """The new properties of an event, converted to the types of the schema. A null removes a property.

    Raises:
        ProblemError: 422 if the schema has no such property, or the value has another type.
    """
    if properties is None:
        return None
    event_type = schema.event_type(memory.type)
    if event_type is None:
        raise ProblemError(422, "uncorrectable", f"the schema {schema.name} has no event type {memory.type} any more")
    unknown = sorted(name for name in properties if event_type.property(name) is None)
    if unknown:
        hint = suggestion(unknown[0], [each.name for each in event_type.properties])
        raise ProblemError(422, "uncorrectable", f"properties.{unknown[0]}: the event type {memory.type} has no such property; {hint}")
    clean: dict[str, JsonValue] = {}
    for name, value in properties.items():
        coerced = coerce_properties(event_type, {name: value})
        if coerced.dropped:
            declared = next(each.value_type for each in event_type.properties if each.name == name)
            raise ProblemError(422, "uncorrectable", f"properties.{name}: the value must be of the type {declared} of the schema")
        clean[name] = coerced.properties.get(name)
    return clean


def check_size(properties: Mapping[str, JsonValue] | None) -> None:
    """Checks that new properties are small enough for a record, and can be written as JSON.

    Raises:
        ProblemError: 413 or 422 if not.
    """
    try:
        size = len(orjson.dumps(properties))
    except TypeError as error:
        where = path_of_unwritable(properties, ("properties",))
        raise ProblemError(422, "invalid", f"{where}: {error}; write a number beyond 64 bits as text") from error
    if size > _MAX_PROPERTIES_BYTES:
        raise ProblemError(413, "too-large", f"properties: more than {_MAX_PROPERTIES_BYTES} bytes")


def made_of_events(detail: str, **members: str) -> ProblemError:
    """The problem that a memory can only be corrected by way of the events that it is made of."""
    return ProblemError(422, "made-of-events", detail, members=members)


def author_of(caller: Caller) -> str:
    """The label and id of a caller's API key."""
    return f"{caller.key.label} ({caller.key.id})" if caller.key.label else caller.key.id


def _correction(request: CorrectionRequest, **fields: object) -> Correction:
    caller, memory = request.caller, request.memory
    generations = [name for name in ("", *(each.name for each in caller.tenant.generations)) if name != memory.generation]
    return Correction.model_validate(
        {
            "id": request.id,
            "tenant": caller.tenant.id,
            "user": memory.user,
            "memory_id": memory.id,
            "generation": memory.generation,
            "generations": generations,
            "by": author_of(caller),
            "reason": request.reason,
            "time": request.time,
            **fields,
        }
    )


def _entity_type(memory: Memory, schema: MemorySchema) -> EntityType:
    found = schema.entity_type(memory.type)
    if found is None:
        raise ProblemError(422, "uncorrectable", f"the schema {schema.name} has no entity type {memory.type} any more")
    return found
