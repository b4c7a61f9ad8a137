"""Ingests messages: checks each, completes it, produces it to Kafka, and reports its position or the reason for its rejection.

A message whose id was sent before is reported as such.
"""

import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from api.dependencies import Dependencies
from api.problems import first_names
from control.errors import ControlLogBehindError
from memory.errors import MalformedRecordError, RecordError, VarveError
from memory.headers import COMMAND, KIND
from memory.ids import sent_message_id
from memory.keys import encode_key
from memory.messages.message_parts import json_type
from memory.messages.message_preparation import MESSAGE_FIELDS, known_fields, message_of
from memory.name_hints import with_meant_name
from memory.positions import LogPosition
from memory.records import Message, MessageChange, SessionCommand
from memory.records.limits import check_message_size, check_parsed_size
from memory.topics import MESSAGES
from runtime.errors import RedisUnavailableError
from runtime.kafka import OutgoingRecord, Producer
from runtime.pieces import map_in_pieces
from runtime.redis.message_outcomes import Recognition, SentMessage, SentMessages
from runtime.seals import Keyring
from runtime.settings import Settings
from runtime.tracing import Headers

_MOST_NAMED: Final = 20
"""Limit for the unknown fields of a message that an error names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedMessage:
    """A message that is durable in Kafka."""

    id: str
    position: LogPosition


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedMessage:
    """A message that was refused, or that Kafka did not acknowledge."""

    id: str | None
    """The id of a valid message: the caller can safely send the message again with it."""
    error: VarveError


@dataclass(frozen=True, slots=True)
class _ValidMessage:
    id: str
    record: OutgoingRecord


class MessageIngestion:
    """Produces messages and commands to the ``messages`` topic.

    Args:
        settings: The topic prefix, and how far in the future a message's time may be.
    """

    def __init__(self, *, producer: Producer, settings: Settings) -> None:
        self._producer = producer
        self._topic = settings.topic(MESSAGES.name)
        self._max_record_bytes = settings.kafka.max_record_bytes
        self._max_future = timedelta(seconds=settings.sessions.max_future_s)
        self._keyring = Keyring.of(settings.signing)

    async def ingest(
        self, bodies: Sequence[object], *, tenant: str, now: datetime, headers: Headers, request_key: str | None = None
    ) -> list[AcceptedMessage | RejectedMessage]:
        """Produces the valid messages of a batch, in order, and reports the outcome of each item.

        Args:
            bodies: Parsed JSON, one message each.
            tenant: The tenant of the credential.
            now: The time of arrival.
            headers: Headers of every record.
            request_key: The request's name: in a repeated request, a message without an id gets the same id again.
        """
        ids = [str(uuid.uuid4()) if request_key is None else sent_message_id(tenant, request_key, index) for index in range(len(bodies))]
        # A batch may take a second: other requests run between its messages.
        checked = await map_in_pieces(lambda each: self._check(each[0], tenant, now, headers, each[1]), zip(bodies, ids, strict=True))
        outcomes = iter(await self._producer.send_each([each.record for each in checked if isinstance(each, _ValidMessage)]))
        return [
            _ingested(each.id, next(outcomes)) if isinstance(each, _ValidMessage) else RejectedMessage(id=None, error=each)
            for each in checked
        ]

    async def flush(self, *, tenant: str, session: str | None, now: datetime, headers: Headers) -> list[LogPosition]:
        """Sends the command that closes open windows, after the messages sent before it.

        Args:
            tenant: The tenant of the credential.
            session: The session whose window is closed. None: all sessions of the tenant.
            now: The time of arrival.
            headers: Headers of every record.

        Returns:
            The command's position in each partition.
        """
        command = SessionCommand(command="flush", tenant=tenant, session=session)
        partitions: Sequence[int | None] = [None] if session else range(await self._producer.partitions(self._topic))
        records = [
            self._sealed(
                OutgoingRecord(
                    topic=self._topic,
                    key=encode_key(tenant, session) if session else encode_key(tenant),
                    value=command.to_json(),
                    headers=(*headers, (KIND, COMMAND)),
                    partition=partition,
                ),
                now,
            )
            for partition in partitions
        ]
        return await self._producer.send_many(records)

    def _check(self, body: object, tenant: str, now: datetime, headers: Headers, new_id: str) -> _ValidMessage | RecordError:
        try:
            check_parsed_size(body, self._max_record_bytes)
            message = parse_message(body, tenant=tenant, now=now, max_future=self._max_future, new_id=new_id)
            key = encode_key(message.tenant, message.session)
            value = message.to_json()
            check_message_size(value, self._max_record_bytes)
            record = self._sealed(OutgoingRecord(topic=self._topic, key=key, value=value, headers=headers), now)
        except RecordError as error:
            return error
        assert message.id is not None
        return _ValidMessage(message.id, record)

    def _sealed(self, record: OutgoingRecord, now: datetime) -> OutgoingRecord:
        """The record with Varve's seal: the credential proves its tenant."""
        return record if self._keyring is None else self._keyring.sealed(record, now_ms=int(now.timestamp() * 1000))


def parse_message(body: object, *, tenant: str, now: datetime, max_future: timedelta, new_id: str) -> Message:
    """Makes a message from a parsed body of any accepted shape: validated, with the credential's tenant, an id, and a time.

    Args:
        body: The caller's JSON.
        tenant: The tenant of the credential.
        now: The default of ``event_time``.
        max_future: How far after ``now`` the message's time may be.
        new_id: The default of ``id``.

    Raises:
        RecordError: If it is not a message, is empty, names a tenant, has an unknown field, or its time is too far in the future.
    """
    if not isinstance(body, dict):
        raise MalformedRecordError(f"a message is a JSON object, not {json_type(body)}")
    if "tenant" in body:
        raise MalformedRecordError("tenant: the tenant comes from the API key; leave this field out")
    unknown = sorted(body.keys() - known_fields(body))
    if "messages" in unknown:
        raise MalformedRecordError(
            "messages: unknown field; send several messages as a JSON list, each with its user and session: [{...}, {...}]"
        )
    if unknown:
        shown = [with_meant_name(each, MESSAGE_FIELDS, body) for each in unknown[:_MOST_NAMED]]
        names = first_names([*shown, *unknown[_MOST_NAMED:]], most=_MOST_NAMED)
        raise MalformedRecordError(f"{names}: unknown field; put further data into metadata")
    defaults: dict[str, Any] = {}
    if body.get("id") is None:
        defaults["id"] = new_id
    if body.get("event_time") is None:
        defaults["event_time"] = now
    message = message_of({**body, **defaults, "tenant": tenant})
    if message.event_time > now + max_future:
        raise MalformedRecordError(
            f"event_time: {message.event_time.isoformat()} is more than {max_future.total_seconds():g} s ahead of the service's clock"
        )
    return message


def _ingested(message_id: str, outcome: LogPosition | VarveError) -> AcceptedMessage | RejectedMessage:
    if isinstance(outcome, VarveError):
        return RejectedMessage(id=message_id, error=outcome)
    return AcceptedMessage(id=message_id, position=outcome)


async def recognized(
    dependencies: Dependencies, tenant: str, messages: Sequence[Any], outcomes: Sequence[AcceptedMessage | RejectedMessage]
) -> list[Recognition]:
    """Whether each message of a request was sent before. A message without an id of its sender, or that was refused, counts as new.

    While Redis or the control log is unavailable, all count as new: the report is missing, and the sessions stage decides in the same way.
    """
    found: list[Recognition] = ["new"] * len(messages)
    named = [
        index
        for index, (each, outcome) in enumerate(zip(messages, outcomes, strict=True))
        if isinstance(outcome, AcceptedMessage) and isinstance(each, dict) and each.get("id") is not None
    ]
    try:
        sent = [_sent(dependencies, tenant, messages[index]) for index in named]
        known = await SentMessages(redis=dependencies.redis).note(sent)
    except (RedisUnavailableError, ControlLogBehindError):
        return found
    for index, recognition in zip(named, known, strict=True):
        found[index] = recognition
    return found


def _sent(dependencies: Dependencies, tenant: str, fields: dict[str, Any]) -> SentMessage:
    return SentMessage.of(tenant, fields, epoch=dependencies.tenants.erasure_epoch(tenant, fields["user"]))


async def note_edit(dependencies: Dependencies, change: MessageChange) -> None:
    """Remembers the new text of an edited message, so that :func:`recognized` takes the message with it for a repetition."""
    with suppress(RedisUnavailableError, ControlLogBehindError):
        edited = SentMessage.edited(
            change.tenant,
            session=change.session,
            user=change.user,
            message_id=change.id,
            text=change.text or "",
            epoch=dependencies.tenants.erasure_epoch(change.tenant, change.user),
        )
        await SentMessages(redis=dependencies.redis).note_edit(edited)
