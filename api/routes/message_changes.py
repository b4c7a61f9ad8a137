"""``PUT`` and ``DELETE /v1/messages/{session}/{id}``: a message was edited or deleted at its source."""

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.responses import Response

from api.auth.authentication import IngestCaller
from api.auth.caller import Caller
from api.dependencies import AppDependencies, Dependencies, RequestTrace
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel, refusals
from api.http.request_body import REST, body_schema, json_body
from api.problems import ProblemError
from api.reads.read_your_writes import PollBackoff
from api.response_models.messages import CHANGED_MESSAGE
from api.writes.idempotency import Idempotency, IngestIdempotency
from api.writes.ingestion import note_edit
from memory.keys import encode_key
from memory.positions import LogPosition
from memory.records import MessageChange
from memory.records.limits import RequestTime
from memory.records.message import Id, Name
from memory.topics import MESSAGES
from memory.validation_problems import problems_of
from runtime.errors import RedisUnavailableError
from runtime.kafka import OutgoingRecord
from runtime.redis.message_outcomes import MessageOutcomes, Outcome
from runtime.seals import Keyring
from runtime.tracing import Headers, SpanContext, record_headers

_WAIT_S: Final = 4.0
"""Time limit for the response of the sessions stage; most of it is spent waiting."""

ChangeOutcome = Literal["edited", "deleted", "unchanged", "pending"]

router = APIRouter(tags=["stream"])

_PATH: Final = f"/v1/messages/{{session:{REST}}}/{{message_id:{REST}}}"

_NAME_SCHEMA: Final = TypeAdapter(Name).json_schema()
"""For the OpenAPI document only: the router divides the decoded path elsewhere if one of the two contains a ``/``."""
_Session = Annotated[str, Path(description="The session, percent-encoded: a `/` in it is written `%2F`.", json_schema_extra=_NAME_SCHEMA)]
_MessageId = Annotated[str, Path(description="The id of the message, percent-encoded.", json_schema_extra=_NAME_SCHEMA)]


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
            RecordTooLargeError: If it is larger than a record.
        """
        record = OutgoingRecord(self._topic, encode_key(change.tenant, change.session), change.to_json(), headers=headers)
        if self._keyring is not None:
            record = self._keyring.sealed(record, now_ms=self._now_ms)
        return (await self._producer.send_many([record]))[0]

    async def send_and_wait(self, change: MessageChange, headers: Headers, request: Request) -> ChangedMessage:
        """Produces a change, and waits a few seconds for its outcome.

        Raises:
            ProblemError: 404 if the user has no such message in the session, 413 if its window would be too large.
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


class EditBody(RequestModel):
    """The new text of a message. Its other fields stay, also the time at which it was said."""

    user: Id | None = None
    """The user of the message. Default: the user of the key; a key that is not bound to a user must name one."""
    text: str
    """The new text. To remove the message, use `DELETE`."""
    edited_at: RequestTime | None = None
    """When it was edited at its source. Default: when the service received the edit."""


@router.put(_PATH, openapi_extra=body_schema(EditBody), responses=CHANGED_MESSAGE | refusals(404, 409))
async def edit_message(
    session: _Session,
    message_id: _MessageId,
    request: Request,
    caller: IngestCaller,
    body: Annotated[EditBody, Depends(json_body(EditBody, max_bytes=None))],
    dependencies: AppDependencies,
    trace: RequestTrace,
    idempotency: IngestIdempotency,
) -> Response:
    """Replaces the text of a message: ``{id, position, outcome}``. Counts as one message.

    Everything that is based on the old text is retracted, and the window of the message is extracted again. ``outcome`` is ``edited``, or
    ``unchanged`` if it has that text already. 202 with ``pending`` if the sessions stage has not answered within seconds: it applies the
    change when it reaches ``position``. 404 if the user has no such message in the session.
    """
    fields = {"command": "edit", "user": body.user, "text": body.text, "edited_at": body.edited_at}
    return await _change(fields, request, caller, dependencies, trace, idempotency)


@router.delete(_PATH, responses=CHANGED_MESSAGE | refusals(404, 409))
async def delete_message(
    session: _Session,
    message_id: _MessageId,
    request: Request,
    caller: IngestCaller,
    dependencies: AppDependencies,
    trace: RequestTrace,
    idempotency: IngestIdempotency,
    user: Annotated[Name | None, Query(description="The user of the message. Default: the user of the key.")] = None,
) -> Response:
    """Deletes a message: ``{id, position, outcome}``. Counts as one message.

    Everything that is based on it is retracted, and its window is extracted again without it. ``outcome`` and 202 are as for an edit. 404
    if the user has no such message in the session, or if it was deleted before.
    """
    return await _change({"command": "delete", "user": user}, request, caller, dependencies, trace, idempotency)


async def _change(
    fields: Mapping[str, object],
    request: Request,
    caller: Caller,
    dependencies: Dependencies,
    trace: SpanContext,
    idempotency: Idempotency,
) -> Response:
    named = fields["user"]
    user = caller.user_of(named if isinstance(named, str) else None)
    if user is None:
        raise ProblemError(422, "invalid", "user: this key is not bound to a user, so the request must name the user of the message")
    try:
        names = _names(request)
        change = MessageChange.model_validate(
            {**fields, "tenant": caller.tenant.id, "user": user, "session": names.session, "id": names.message_id},
        )
    except ValidationError as error:
        raise ProblemError(422, "invalid", problems_of(error)) from error
    size = len(await request.body())

    async def act() -> Response:
        quota = await dependencies.quotas.admit_messages(caller.tenant, count=1, size=size, adds_memories=False)
        headers = record_headers(trace, dependencies.clock.now())
        changed = await MessageChanges(dependencies).send_and_wait(change, headers, request)
        if change.text is not None:
            await note_edit(dependencies, change)
        return JsonResponse(changed, status_code=202 if changed.outcome == "pending" else 200, headers=quota)

    return await idempotency.once(act)


class _Names(BaseModel):
    """The two names in the path."""

    session: Name
    message_id: Name


def _names(request: Request) -> _Names:
    """Session and message id in the path. They are parsed before percent-decoding, since both may contain a ``/``.

    Raises:
        ProblemError: 404 if the path has not exactly these two parts.
        ValidationError: One of them is empty or too long.
    """
    raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode("utf-8")
    parts = raw.partition(b"?")[0].partition(b"/v1/messages/")[2].decode("ascii", "replace").split("/")
    if len(parts) != len(("session", "id")):
        raise ProblemError(404, "not-found", "the path is /v1/messages/{session}/{id}; write a / in a session or an id as %2F")
    session, message_id = map(unquote, parts)
    return _Names(session=session, message_id=message_id)
