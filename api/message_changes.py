"""Changes of messages over HTTP: produces the change, and waits for the response of the sessions stage, which alone knows the ids."""

import asyncio
import uuid
from dataclasses import dataclass
from typing import Final, Literal

from starlette.requests import Request

from api.dependencies import Dependencies
from api.problems import ProblemError
from api.read_your_writes import PollBackoff
from memory.keys import encode_key
from memory.positions import LogPosition
from memory.records import MessageChange
from memory.topics import MESSAGES
from runtime.errors import RedisUnavailableError
from runtime.kafka import OutgoingRecord
from runtime.message_outcomes import MessageOutcomes, Outcome
from runtime.seals import Keyring
from runtime.tracing import Headers

_WAIT_S: Final = 4.0
"""Time limit for the response of the sessions stage; most of it is spent waiting."""

ChangeOutcome = Literal["edited", "deleted", "unchanged", "pending"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedMessage:
    """A change that is durable in Kafka."""

    id: str
    position: LogPosition
    outcome: ChangeOutcome
    """``pending``: the sessions stage has not answered in time. The change is applied when it reaches it."""


class MessageChanges:
    """Produces changes to the ``messages`` topic."""

    def __init__(self, dependencies: Dependencies) -> None:
        settings = dependencies.settings
        self._producer = dependencies.producer
        self._outcomes = MessageOutcomes(redis=dependencies.redis)
        self._topic = settings.topic(MESSAGES.name)
        self._keyring = Keyring.of(settings.signing)
        self._now_ms = int(dependencies.clock.now().timestamp() * 1000)

    async def send(self, change: MessageChange, headers: Headers) -> LogPosition:
        """Produces a change after the messages and changes of its session that were sent before.

        Raises:
            KafkaUnavailableError: If Kafka does not accept it.
            RecordTooLargeError: If it is larger than a record.
        """
        record = OutgoingRecord(self._topic, encode_key(change.tenant, change.session), change.to_json(), headers=headers)
        if self._keyring is not None:
            record = self._keyring.sealed(record, now_ms=self._now_ms)
        return (await self._producer.send_many([record]))[0]

    async def send_and_wait(self, change: MessageChange, headers: Headers, request: Request) -> ChangedMessage:
        """Produces a change, and waits a few seconds for its outcome.

        Args:
            change: The change.
            headers: Headers of the record.
            request: The waiting HTTP request.

        Raises:
            ProblemError: 404 if the user has no such message in the session, 413 if its window would be too large.
            KafkaUnavailableError: If Kafka does not accept it.
            ClientDisconnect: If the client has disconnected.
        """
        change = change.model_copy(update={"request": str(uuid.uuid4())})
        position = await self.send(change, headers)
        outcome = await self._outcome(change, request)
        if outcome == "unknown":
            detail = f"user {change.user} has no message {change.id} in session {change.session}, or it was deleted before"
            raise ProblemError(404, "not-found", detail)
        if outcome == "too_large":
            raise ProblemError(413, "too-large", f"text: with it, the window of message {change.id} would exceed the limit of a record")
        return ChangedMessage(id=change.id, position=position, outcome=outcome or "pending")

    async def _outcome(self, change: MessageChange, request: Request) -> Outcome | None:
        patience = PollBackoff(asyncio.get_running_loop().time() + _WAIT_S)
        while True:
            try:
                outcome = await self._outcomes.read(change.tenant, change.request or "")
            except RedisUnavailableError:
                return None
            if outcome is not None or patience.is_over:
                return outcome
            await patience.pause(request)
