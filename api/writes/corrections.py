"""Manual corrections: checks them against the memory and its schema, and produces them to the log of extractions."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

import orjson
from pydantic import JsonValue

from api.auth.caller import Caller
from api.problems import ProblemError
from api.writes.correction_effects import CorrectionEffects, is_invalidated
from control.tenants import TenantDirectory
from memory.errors import RecordTooLargeError, SchemaError
from memory.headers import CORRECTION, KIND
from memory.keys import distinct_key, encode_key
from memory.positions import LogPosition
from memory.records import Change, Correction, EntityCorrection, EventFields, EventSeen, Memory, MessageChange
from memory.records.base import path_of_unwritable
from memory.schema.coerce import coerce_properties
from memory.schema.model import EntityType, MemorySchema
from memory.schema.node import suggestion
from memory.topics import EXTRACTIONS, MESSAGES
from operators.entities.correction import changes_of
from operators.errors import UncorrectableFieldError
from runtime.errors import RedisUnavailableError
from runtime.kafka import OutgoingRecord, Producer
from runtime.redis.sent_corrections import SentCorrections
from runtime.seals import Keyring
from runtime.settings import Settings
from runtime.tracing import Headers
from stores.port import MemoryStore, TenantScope

_MAX_PROPERTIES_BYTES: Final = 16 * 1024
_MAX_REMAINING: Final = 50
_WHY: Final = {
    "event": "it is based on the same message; invalidate it, too, if it is wrong",
    "summary": "a summary of a period that had the event; it is written again when its period changes",
    "message": "the log keeps the message; DELETE /v1/messages/{session}/{id} removes it and all that is based on it",
}
"""Why content remains, by its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """Content of an invalidated event that is left elsewhere."""

    what: str
    """The kind of a memory, or ``message``."""
    id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionRequest:
    """A request to correct a memory, and its caller."""

    id: str
    caller: Caller
    memory: Memory
    """The memory as the caller may read it."""
    reason: str
    time: datetime


class MemoryCorrections:
    """Produces corrections. Rejects an invalid correction before it reaches the log.

    Args:
        settings: The topic prefix, the largest record, and the largest allowed time in the future.
        sent: Remembers what was sent.
        effects: Recognises corrections without effect.
    """

    def __init__(self, *, producer: Producer, settings: Settings, sent: SentCorrections, effects: CorrectionEffects) -> None:
        self._producer = producer
        self._sent = sent
        self._effects = effects
        self._topic = settings.topic(EXTRACTIONS.name)
        self._messages_topic = settings.topic(MESSAGES.name)
        self._keyring = Keyring.of(settings.signing)
        self._max_record_bytes = settings.kafka.max_record_bytes
        self._max_future = timedelta(seconds=settings.sessions.max_future_s)

    async def correct(
        self, request: CorrectionRequest, headers: Headers, *, fields: EventFields, tenants: TenantDirectory
    ) -> LogPosition | None:
        """Sets fields of an event, or properties of an entity. Other contents or values hide the event's messages, as an invalidation does.

        Returns None, and sends nothing, if the memory has these values.

        Args:
            request: The author and the memory.
            headers: Headers of the record.
            fields: The new values. For an entity: its properties, and the time since which they hold.
            tenants: The schemas; the one of the memory's generation applies.

        Raises:
            ProblemError: 422 if the memory has no such field, or the value is invalid.
        """
        if not any(getattr(fields, name) is not None for name in EventFields.model_fields):
            raise ProblemError(
                422, "invalid", "no field is set; send at least one of content, properties, event_time, date, importance, keywords"
            )
        if fields.event_time is not None and fields.date is not None:
            raise ProblemError(
                422, "invalid", "event_time and date are both set; send event_time for a moment, or date for a day or a longer period"
            )
        if _size_of(fields.properties) > _MAX_PROPERTIES_BYTES:
            raise ProblemError(413, "too-large", f"properties: more than {_MAX_PROPERTIES_BYTES} bytes")
        schema = tenants.schema_of(request.caller.tenant.id, request.memory.generation)
        if request.memory.kind == "entity":
            correction = _correction_of_entity(request, _entity_changes(request, fields, schema, self._max_future))
            if fields.event_time is None and await self._effects.changes_nothing(request.memory, correction):
                return None
            return await self._send(correction, headers)
        fields = fields.model_copy(update={"properties": _event_properties(request.memory, fields.properties, schema)})
        correction = _correction_of_event(request, fields)
        if await self._effects.changes_nothing(request.memory, correction):
            return None
        if replaces_statement(request.memory, fields):
            await self._show(request, headers, command="hide")
            return await self._send(correction, headers)
        return await self._send_of_event(request, correction, headers)

    async def invalidate(self, request: CorrectionRequest, headers: Headers) -> LogPosition | None:
        """Marks an event as false, and hides its messages from the session's newest messages. Returns None if it is marked already.

        Raises:
            ProblemError: 422 if it is not an event.
        """
        if request.memory.kind == "entity":
            raise _made_of_events("an entity is made of events and patches; invalidate the events that are wrong")
        correction = _correction_of_event(request, EventFields(), action="invalidate")
        if await self._effects.changes_nothing(request.memory, correction):
            return None
        # First: if the second send fails, the caller repeats both, and a message that is hidden too early harms nothing.
        await self._show(request, headers, command="hide")
        return await self._send(correction, headers)

    async def delete(self, request: CorrectionRequest, headers: Headers) -> LogPosition:
        """Removes an event permanently, and hides its messages from the session's newest messages.

        Raises:
            ProblemError: 422 where it is no event.
        """
        if request.memory.kind == "entity":
            raise _made_of_events("an entity is made of events and patches; delete the events that must not remain")
        correction = _correction_of_event(request, EventFields(), action="delete")
        await self._show(request, headers, command="hide")
        return await self._send(correction, headers)

    async def revert(self, request: CorrectionRequest, headers: Headers, *, tenants: TenantDirectory) -> LogPosition:
        """Undoes the newest correction in force of a memory.

        Raises:
            ProblemError: 422 if it is neither an event nor an entity, 409 if it has no correction.
        """
        memory = request.memory
        entity_type: EntityType | None = None
        if memory.kind == "entity":
            correction = _correction_of_entity(request, [], action="revert")
            with suppress(SchemaError):
                entity_type = tenants.schema_of(request.caller.tenant.id, memory.generation).entity_type(memory.type)
        else:
            correction = _correction_of_event(request, EventFields(), action="revert")
        if await self._effects.has_none(memory, entity_type):
            raise ProblemError(
                409, "nothing-to-revert", f"no correction of the {memory.kind} {memory.id} is in force; read the memory and correct it"
            )
        return await (self._send(correction, headers) if memory.kind == "entity" else self._send_of_event(request, correction, headers))

    async def _send_of_event(self, request: CorrectionRequest, correction: Correction, headers: Headers) -> LogPosition:
        """Sends a correction after which an event is valid. Hidden messages are shown again, unless an earlier correction replaces them."""
        position = await self._send(correction, headers)
        if _are_right_before(request.memory, reverts=correction.action == "revert"):
            await self._show(request, headers, command="show")
        return position

    async def remaining(self, memory: Memory, store: MemoryStore) -> list[Remaining]:
        """The memories that still hold the content of an event after it was invalidated or replaced; none for an entity."""
        if memory.kind != "event":
            return []
        scope = TenantScope(memory.tenant, memory.user)
        sessions = [] if memory.session is None else [memory.session]
        found = await store.by_evidence(
            scope, memory.message_ids, sessions=sessions, generation=memory.generation, limit=_MAX_REMAINING + 1
        )
        others = [each for each in found if each.id != memory.id and not is_invalidated(each)][:_MAX_REMAINING]
        memories = [Remaining(what=each.kind, id=each.id, reason=_WHY.get(each.kind, _WHY["event"])) for each in others]
        return [*memories, *(Remaining(what="message", id=each, reason=_WHY["message"]) for each in memory.message_ids)]

    async def _send(self, correction: Correction, headers: Headers) -> LogPosition:
        value = correction.to_json()
        if len(value) > self._max_record_bytes:
            raise RecordTooLargeError(
                f"a correction of {len(value)} bytes is over the limit of {self._max_record_bytes}; shorten its values"
            )
        key = distinct_key(correction.tenant, correction.user or correction.memory_id)
        record = OutgoingRecord(self._topic, key, value, headers=(*headers, (KIND, CORRECTION)))
        position = (await self._producer.send_many([record]))[0]
        with suppress(RedisUnavailableError):
            await self._sent.note(correction, position)
        return position

    async def _show(self, request: CorrectionRequest, headers: Headers, *, command: Literal["hide", "show"]) -> None:
        """Hides an event's messages from the session's newest messages, or shows them again."""
        memory = request.memory
        if memory.session is None or memory.user is None:
            return
        changes = [
            MessageChange(command=command, tenant=memory.tenant, user=memory.user, session=memory.session, id=message_id)
            for message_id in memory.message_ids
        ]
        key = encode_key(memory.tenant, memory.session)
        records = [OutgoingRecord(self._messages_topic, key, each.to_json(), headers=headers) for each in changes]
        if self._keyring is not None:
            now_ms = int(request.time.timestamp() * 1000)
            records = [self._keyring.sealed(each, now_ms=now_ms) for each in records]
        await self._producer.send_many(records)


def replaces_statement(memory: Memory, fields: EventFields) -> bool:
    """Whether a correction of an event replaces something that its messages say: its content, or a value that it has."""
    content, properties = fields.content, fields.properties or {}
    values = (memory.properties.get(name) not in (None, value) for name, value in properties.items())
    return memory.kind == "event" and ((content is not None and content != memory.content) or any(values))


def _are_right_before(memory: Memory, *, reverts: bool) -> bool:
    """Whether hidden messages of an event are right again, once its newest correction is reverted or an invalidation is lifted."""
    note = memory.correction
    if note is None:
        return False
    if note.action == "invalidate":
        return note.before.content is None and note.before.properties is None
    return reverts and note.standing == 1


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


def _correction_of_event(request: CorrectionRequest, fields: EventFields, *, action: str = "correct") -> Correction:
    memory = request.memory
    if memory.kind != "event":
        raise _made_of_events(f"a {memory.kind} is made of events; correct or invalidate those events")
    if memory.window_id is None or not memory.message_ids:
        raise ProblemError(422, "invalid", "an event without source messages cannot be corrected")
    seen = EventSeen(window_id=memory.window_id, type=memory.type, content=memory.content, message_ids=memory.message_ids)
    return _correction(request, action=action, event=seen, fields=fields)


def _correction_of_entity(request: CorrectionRequest, changes: list[Change], *, action: str = "correct") -> Correction:
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


def _entity_changes(request: CorrectionRequest, fields: EventFields, schema: MemorySchema, max_future: timedelta) -> list[Change]:
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
            raise _made_of_events(str(error), property=error.field) from error
        raise ProblemError(422, "uncorrectable", str(error), members={"property": error.field}) from error


def _entity_type(memory: Memory, schema: MemorySchema) -> EntityType:
    found = schema.entity_type(memory.type)
    if found is None:
        raise ProblemError(422, "uncorrectable", f"the schema {schema.name} has no entity type {memory.type} any more")
    return found


def _size_of(properties: Mapping[str, JsonValue] | None) -> int:
    try:
        return len(orjson.dumps(properties))
    except TypeError as error:
        where = path_of_unwritable(properties, ("properties",))
        raise ProblemError(422, "invalid", f"{where}: {error}; write a number beyond 64 bits as text") from error


def _event_properties(memory: Memory, properties: Mapping[str, JsonValue] | None, schema: MemorySchema) -> dict[str, JsonValue] | None:
    """The properties, converted to the types of the schema. A null removes a property."""
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


def _made_of_events(detail: str, **members: str) -> ProblemError:
    return ProblemError(422, "made-of-events", detail, members=members)
