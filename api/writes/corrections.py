"""Manual corrections: checks them against the memory and its schema, and produces them to the log of extractions."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from api.problems import ProblemError
from api.writes.correction_effects import CorrectionEffects, is_invalidated
from api.writes.correction_records import (
    CorrectionRequest,
    check_size,
    correction_of_entity,
    correction_of_event,
    entity_changes,
    event_properties,
    made_of_events,
)
from control.tenants import TenantDirectory
from memory.errors import RecordTooLargeError, SchemaError
from memory.headers import CORRECTION, KIND
from memory.keys import distinct_key, encode_key
from memory.positions import LogPosition
from memory.records import Correction, EventFields, Memory, MessageChange
from memory.schema.model import EntityType
from memory.topics import EXTRACTIONS, MESSAGES
from runtime.errors import RedisUnavailableError
from runtime.kafka import OutgoingRecord, Producer
from runtime.redis.sent_corrections import SentCorrections
from runtime.seals import Keyring
from runtime.settings import Settings
from runtime.tracing import Headers
from stores.port import MemoryStore, TenantScope

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
        check_size(fields.properties)
        schema = tenants.schema_of(request.caller.tenant.id, request.memory.generation)
        if request.memory.kind == "entity":
            correction = correction_of_entity(request, entity_changes(request, fields, schema, self._max_future))
            if fields.event_time is None and await self._effects.changes_nothing(request.memory, correction):
                return None
            return await self._send(correction, headers)
        fields = fields.model_copy(update={"properties": event_properties(request.memory, fields.properties, schema)})
        correction = correction_of_event(request, fields)
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
            raise made_of_events("an entity is made of events and patches; invalidate the events that are wrong")
        correction = correction_of_event(request, EventFields(), action="invalidate")
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
            raise made_of_events("an entity is made of events and patches; delete the events that must not remain")
        correction = correction_of_event(request, EventFields(), action="delete")
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
            correction = correction_of_entity(request, [], action="revert")
            with suppress(SchemaError):
                entity_type = tenants.schema_of(request.caller.tenant.id, memory.generation).entity_type(memory.type)
        else:
            correction = correction_of_event(request, EventFields(), action="revert")
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
