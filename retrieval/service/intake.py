"""Takes messages in: checks each, gives it what it lacks, produces it, and says where it lies or why it was refused."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from memory.errors import MalformedRecordError, RecordError, VarveError
from memory.headers import COMMAND, KIND
from memory.keys import encode_key
from memory.positions import LogPosition
from memory.records import Message, SessionCommand
from memory.topics import MESSAGES
from runtime.kafka import OutgoingRecord, Producer
from runtime.settings import Settings
from runtime.tracing import Headers

_KNOWN: Final = frozenset(Message.model_fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A message that is durable in Kafka."""

    id: str
    position: LogPosition


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTaken:
    """A message that is not, as far as is known, and why."""

    id: str | None
    """Given where it was good: sending it again with this id is harmless."""
    error: VarveError


@dataclass(frozen=True, slots=True)
class _Admitted:
    id: str
    record: OutgoingRecord


class Intake:
    """Produces messages and commands into the ``messages`` log.

    Args:
        producer: Waits until records are durable.
        settings: Topic prefix, and how far ahead a message may be dated.
    """

    def __init__(self, *, producer: Producer, settings: Settings) -> None:
        self._producer = producer
        self._topic = settings.topic(MESSAGES.name)
        self._max_future = timedelta(seconds=settings.sessions.max_future_s)

    async def take(self, bodies: Sequence[object], *, tenant: str, now: datetime, headers: Headers) -> list[Taken | NotTaken]:
        """Takes a batch in; each item for itself, good ones in order.

        Args:
            bodies: Parsed JSON, one message each.
            tenant: From the credential.
            now: The time of arrival.
            headers: Of every record.
        """
        admitted = [self._admit(body, tenant, now, headers) for body in bodies]
        outcomes = iter(await self._producer.send_each([each.record for each in admitted if isinstance(each, _Admitted)]))
        return [self._told(each, next(outcomes)) if isinstance(each, _Admitted) else NotTaken(id=None, error=each) for each in admitted]

    async def flush(self, *, tenant: str, session: str | None, headers: Headers) -> list[LogPosition]:
        """Closes a session's open window, or all of a tenant's: the command lies in the log behind the messages sent before it.

        Raises:
            KafkaUnavailableError: If Kafka does not take it.
            TopicMissingError: If there is no ``messages`` topic.
        """
        command = SessionCommand(command="flush", tenant=tenant, session=session)
        partitions: Sequence[int | None] = [None] if session else range(await self._producer.partitions(self._topic))
        records = [
            OutgoingRecord(
                topic=self._topic,
                key=encode_key(tenant, session) if session else encode_key(tenant),
                value=command.to_json(),
                headers=[*headers, (KIND, COMMAND)],
                partition=partition,
            )
            for partition in partitions
        ]
        return await self._producer.send_many(records)

    def _admit(self, body: object, tenant: str, now: datetime, headers: Headers) -> _Admitted | RecordError:
        try:
            message = admit(body, tenant=tenant, now=now, max_future=self._max_future)
            key = encode_key(message.tenant, message.session)
            record = OutgoingRecord(topic=self._topic, key=key, value=message.to_json(), headers=headers)
        except RecordError as error:
            return error
        assert message.id is not None
        return _Admitted(message.id, record)

    def _told(self, admitted: _Admitted, outcome: LogPosition | VarveError) -> Taken | NotTaken:
        if isinstance(outcome, VarveError):
            return NotTaken(id=admitted.id, error=outcome)
        return Taken(id=admitted.id, position=outcome)


def admit(body: object, *, tenant: str, now: datetime, max_future: timedelta) -> Message:
    """Makes a message of a parsed body: checked, with the credential's tenant, an id, and a time.

    Args:
        body: What the caller sent.
        tenant: From the credential.
        now: Stands for an absent ``event_time``.
        max_future: How far ahead of ``now`` a message may be dated.

    Raises:
        RecordError: If it is no message, names a tenant, has a field that is unknown, or is dated too far ahead.
    """
    if not isinstance(body, dict):
        raise MalformedRecordError(f"a message is a JSON object, not {_json_name(body)}")
    if "tenant" in body:
        raise MalformedRecordError("tenant: the tenant comes from the API key; leave this field out")
    unknown = sorted(body.keys() - _KNOWN)
    if unknown:
        raise MalformedRecordError(f"{', '.join(unknown)}: unknown; what a message has no field for goes into metadata")
    defaults: dict[str, Any] = {}
    if body.get("id") is None:
        defaults["id"] = str(uuid.uuid4())
    if body.get("event_time") is None:
        defaults["event_time"] = now
    message = Message.from_fields({**body, **defaults, "tenant": tenant})
    if message.event_time > now + max_future:
        raise MalformedRecordError(
            f"event_time: {message.event_time.isoformat()} lies more than {max_future.total_seconds():g} s ahead of the service's clock"
        )
    return message


def _json_name(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a truth value"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "a number"
