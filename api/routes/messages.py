"""``POST /v1/messages`` and ``POST /v1/flush``: the input of the stream."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import Field, JsonValue
from starlette.responses import Response

from api.auth.authentication import IngestCaller
from api.dependencies import AppDependencies, RequestTrace
from api.http.json_http import JsonResponse, read_json
from api.http.openapi import RequestModel, component, refusals
from api.http.request_body import body_schema, json_body
from api.problems import ProblemError, problem_from
from api.response_models.messages import FLUSHED, MESSAGES
from api.writes.idempotency import IngestIdempotency
from api.writes.ingestion import AcceptedMessage, MessageIngestion, RejectedMessage, recognized
from memory.messages.message_time import SaidTime
from memory.records.message import Id, Name, Role, TimeZoneName, ToolCall, ToolResult
from runtime.redis.message_outcomes import Recognition
from runtime.tracing import record_headers

router = APIRouter(tags=["stream"])


class MessageBody(RequestModel):
    """One message: :class:`memory.records.Message` without its tenant, which the API key determines.

    Messages of OpenAI's and Anthropic's APIs are accepted as they are, with ``user`` and ``session``.
    """

    schema_version: str = "1.0"
    user: Id
    """The user that the message belongs to."""
    session: Id
    id: Id | None = None
    """Unique in the session for this user: a repeated id is the same message. Default: random, or from the `Idempotency-Key`."""
    role: Role | Literal["developer"] = "user"
    """``developer`` is stored as ``system``."""
    speaker: str | None = None
    """The name of the person who speaks. Default: the role."""
    text: str | list[JsonValue] | dict[str, JsonValue] | None = None
    """The content: a text, a list of parts, or one part. A message has text or a tool call."""
    content: str | list[JsonValue] | dict[str, JsonValue] | None = None
    """OpenAI's and Anthropic's name of ``text``. Send one of them."""
    event_time: SaidTime = Field(default_factory=lambda: datetime.now(UTC))
    """When it was said, from 1971 on: ISO 8601 with a UTC offset, or seconds or milliseconds since 1970. Default: when the service received
    it."""
    time_zone: TimeZoneName | None = None
    """IANA name of the user's time zone. Default: the tenant's, or else the UTC offset of ``event_time``."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    tool_call: ToolCall | None = None
    tool_calls: list[ToolCall | dict[str, JsonValue]] = Field(default_factory=list)
    """Several calls of one turn, in this form or in OpenAI's."""
    tool_results: list[ToolResult] = Field(default_factory=list)
    """Results of earlier calls of the session."""
    tool_call_id: Name | None = None
    """The call whose result the text of a message with the role ``tool`` is."""
    name: Name | None = None
    """OpenAI's field for the name of the speaker or tool."""
    automated: bool = False
    """Whether a program sent it automatically, such as a heartbeat: it stays in the log and is never extracted."""
    from_recall: bool = False
    """The text came from a recall: it is context for the reader, and is not extracted."""


def _body_schema() -> dict[str, Any]:
    one = component(MessageBody)
    either = {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": either}}}}


@router.post("/v1/messages", openapi_extra=_body_schema(), responses=MESSAGES | refusals(409, 507))
async def send_messages(
    request: Request, caller: IngestCaller, dependencies: AppDependencies, trace: RequestTrace, idempotency: IngestIdempotency
) -> Response:
    """Ingests one message (an object) or a batch (a list). Responds when they are durable in Kafka (acks=all).

    One message: 200 with ``{id, position: {topic, partition, offset}}``, or a problem.

    An id that was sent within a day has ``repeated: true`` with equal content: the message is stored once. With other content it has
    ``changed: true``: the message was not stored (it becomes a dead letter); edit the message with `PUT /v1/messages/{session}/{id}`.

    A batch has an outcome per item, in order: ``{items: [{index, status, id, position} | {index, status, id?, problem}]}``, and the counts
    ``repeated`` and ``changed`` if there are such. The status is 200 if all were accepted, and 207 if some were not. If Kafka accepted none
    of them, the whole response is a 503 problem with ``Retry-After`` and the same items. A message may be sent again with the id that the
    caller gave, or that its item has; a message without an id, in the same body with the same ``Idempotency-Key``.
    """
    body = await read_json(request)
    batch = body if isinstance(body, list) else [body]
    if not batch:
        raise ProblemError(422, "malformed", "the list of messages is empty")
    limit = dependencies.settings.service.max_batch
    if len(batch) > limit:
        raise ProblemError(413, "too-large", f"the batch has {len(batch)} messages; the limit is {limit}: send several batches")
    size = len(await request.body())
    now = dependencies.clock.now()
    ingestion = MessageIngestion(producer=dependencies.producer, settings=dependencies.settings)
    messages = [caller.message(item) for item in batch]

    async def ingest() -> Response:
        quota = await dependencies.quotas.admit_messages(caller.tenant, count=len(batch), size=size)
        headers = record_headers(trace, now)
        outcomes = await ingestion.ingest(messages, tenant=caller.tenant.id, now=now, headers=headers, request_key=idempotency.request_name)
        known = await recognized(dependencies, caller.tenant.id, messages, outcomes)
        response = _batch_response(outcomes, known) if isinstance(body, list) else _single_response(outcomes[0], known[0])
        response.headers.update(quota)
        return response

    return await idempotency.once(ingest)


class FlushRequest(RequestModel):
    """The sessions to flush."""

    session: Id | None = None
    """Default: all sessions of the tenant."""


@router.post("/v1/flush", openapi_extra=body_schema(FlushRequest, required=False), responses=FLUSHED | refusals(409, 507))
async def flush_windows(
    request: Request,
    caller: IngestCaller,
    body: Annotated[FlushRequest, Depends(json_body(FlushRequest, default=FlushRequest()))],
    dependencies: AppDependencies,
    trace: RequestTrace,
    idempotency: IngestIdempotency,
) -> Response:
    """Closes a session's open window now, or all open windows of the tenant if no session is named. Counts as one message.

    200 with ``{positions: [{topic, partition, offset}]}``. The windows are closed once the sessions stage has committed past these.
    """
    caller.require_every_user()
    size = len(await request.body())
    ingestion = MessageIngestion(producer=dependencies.producer, settings=dependencies.settings)
    now = dependencies.clock.now()
    headers = record_headers(trace, now)

    async def flush() -> Response:
        quota = await dependencies.quotas.admit_messages(caller.tenant, count=1, size=size)
        positions = await ingestion.flush(tenant=caller.tenant.id, session=body.session, now=now, headers=headers)
        return JsonResponse({"positions": positions}, headers=quota)

    return await idempotency.once(flush)


def _single_response(outcome: AcceptedMessage | RejectedMessage, known: Recognition) -> Response:
    if isinstance(outcome, AcceptedMessage):
        return JsonResponse({"id": outcome.id, "position": outcome.position, **_known(known)})
    problem = problem_from(outcome.error)
    if outcome.id is not None:
        problem.members["id"] = outcome.id
    raise problem


def _known(known: Recognition) -> dict[str, Any]:
    return {} if known == "new" else {known: True}


def _batch_response(outcomes: list[AcceptedMessage | RejectedMessage], known: Sequence[Recognition]) -> Response:
    items: list[dict[str, Any]] = []
    problems: list[ProblemError] = []
    for index, outcome in enumerate(outcomes):
        if isinstance(outcome, AcceptedMessage):
            items.append({"index": index, "status": 200, "id": outcome.id, "position": outcome.position, **_known(known[index])})
            continue
        problem = problem_from(outcome.error)
        problems.append(problem)
        named = {} if outcome.id is None else {"id": outcome.id}
        items.append({"index": index, "status": problem.status_code, **named, "problem": problem.body()})
    if len(problems) == len(outcomes) and all(problem.status_code == 503 for problem in problems):
        raise ProblemError(503, "unavailable", problems[0].detail, headers=problems[0].headers, members={"items": items})
    counts = {name: count for name in ("repeated", "changed") if (count := sum(each == name for each in known))}
    return JsonResponse({"items": items, **counts}, status_code=207 if problems else 200)
