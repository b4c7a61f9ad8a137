"""``POST /v1/messages`` and ``POST /v1/flush``: what goes into the stream."""

from typing import Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from memory.records import Message
from memory.records.message import Name
from retrieval.service.answers import JsonAnswer, read_json
from retrieval.service.intake import Intake, NotTaken, Taken
from retrieval.service.parts import PartsOfApp, TraceOfRequest
from retrieval.service.problems import Problem, problem_of
from retrieval.service.tenancy import Caller
from runtime.tracing import record_headers

router = APIRouter(tags=["stream"])

_TAKEN_FROM_KEY: Final = "tenant"


def _message_schema() -> dict[str, Any]:
    schema = Message.model_json_schema()
    schema["properties"].pop(_TAKEN_FROM_KEY)
    schema["required"] = ["user", "session"]
    return schema


def _body_schema() -> dict[str, Any]:
    one = _message_schema()
    definitions = one.pop("$defs", {})
    inlined = {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}], "$defs": definitions}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": inlined}}}}


@router.post("/v1/messages", openapi_extra=_body_schema())
async def post_messages(request: Request, tenant: Caller, parts: PartsOfApp, trace: TraceOfRequest) -> Response:
    """Takes one message (an object) or a batch (a list) in; answers when they are durable in Kafka (acks=all).

    One message: 200 with ``{id, position: {topic, partition, offset}}``, or a problem.

    A batch: each item for itself, in order. 200 when all were taken, 207 when some were not:
    ``{items: [{index, status, id, position} | {index, status, id?, problem}]}``. When Kafka took none of them, the whole answer is a 503
    problem with ``Retry-After`` and the same items. Sending again is harmless with an id that the caller gave, or that the item names.
    """
    body = await read_json(request)
    batch = body if isinstance(body, list) else [body]
    if not batch:
        raise Problem(422, "malformed", "an empty list has nothing to take in")
    limit = parts.settings.service.max_batch
    if len(batch) > limit:
        raise Problem(413, "too-large", f"a batch may have {limit} messages, this one has {len(batch)}")
    now = parts.clock.now()
    intake = Intake(producer=parts.producer, settings=parts.settings)
    outcomes = await intake.take(batch, tenant=tenant.id, now=now, headers=record_headers(trace, now))
    return _answer_batch(outcomes) if isinstance(body, list) else _answer_one(outcomes[0])


class FlushRequest(BaseModel):
    """What to flush."""

    model_config = ConfigDict(extra="forbid")

    session: Name | None = None
    """None: all of the tenant's sessions."""


@router.post("/v1/flush")
async def post_flush(tenant: Caller, parts: PartsOfApp, trace: TraceOfRequest, body: FlushRequest | None = None) -> Response:
    """Closes a session's open window now, or without a session all of the tenant's.

    200 with ``{positions: [{topic, partition, offset}]}``: once the sessions stage has committed behind them, the windows are closed.
    """
    intake = Intake(producer=parts.producer, settings=parts.settings)
    headers = record_headers(trace, parts.clock.now())
    positions = await intake.flush(tenant=tenant.id, session=body.session if body else None, headers=headers)
    return JsonAnswer({"positions": positions})


def _answer_one(outcome: Taken | NotTaken) -> Response:
    if isinstance(outcome, Taken):
        return JsonAnswer(outcome)
    problem = problem_of(outcome.error)
    if outcome.id is not None:
        problem.members["id"] = outcome.id
    raise problem


def _answer_batch(outcomes: list[Taken | NotTaken]) -> Response:
    items: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for index, outcome in enumerate(outcomes):
        if isinstance(outcome, Taken):
            items.append({"index": index, "status": 200, "id": outcome.id, "position": outcome.position})
            continue
        problem = problem_of(outcome.error)
        problems.append(problem)
        named = {} if outcome.id is None else {"id": outcome.id}
        items.append({"index": index, "status": problem.status_code, **named, "problem": problem.body()})
    if len(problems) == len(outcomes) and all(problem.status_code == 503 for problem in problems):
        raise Problem(503, "unavailable", problems[0].detail, headers=problems[0].headers, members={"items": items})
    return JsonAnswer({"items": items}, status_code=207 if problems else 200)
