"""``POST /v1/context``: what the memory knows, as a block of text for a prompt."""

import time
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from api.authentication import RecallCaller
from api.dependencies import AppDependencies, RequestTrace
from api.json_http import JsonResponse
from api.query_rewriting import prepare
from api.quota_dependency import RecallQuota
from api.read_at_position import wait_until_reached
from api.read_your_writes import wait_for
from api.recall_body import ContextBody
from api.recall_requests import build_recall_request
from api.recall_runs import TailRequest, deadline_of, record_recall, results_read, run_recall, texts_of
from api.request_body import body_schema, json_body
from api.responses import CONTEXT
from memory.errors import RecordError
from memory.records import Message
from retrieval.context import pack
from runtime.logs import logger
from runtime.session_tail import SessionView

router = APIRouter(tags=["read"])

_log = logger(__name__)

_TOKENS_OF_MEMORY: Final = 20
"""A short one has fewer, most have more: so many memories fill a block of so many tokens."""
_FEWEST: Final = 10
_MOST: Final = 200


@router.post("/v1/context", openapi_extra=body_schema(ContextBody), responses=CONTEXT)
async def build_context(
    request: Request,
    caller: RecallCaller,
    quota: RecallQuota,
    body: Annotated[ContextBody, Depends(json_body(ContextBody))],
    dependencies: AppDependencies,
    trace: RequestTrace,
) -> Response:
    """Packs what a recall finds into a block of text for the user's part of a prompt, within a number of tokens.

    200 with ``{recall_id, context, tokens, citations: [{mark, id, kind, evidence}], left_out, after, at, degraded, positions, ms}``. In the
    block stand, behind their marks, the states of the body's user, then summaries and events by their time, then the newest messages of
    the body's session: what changes least comes first. With ``said`` an event that a model worded stands there with what its first message
    says. All of it stands in a fence that none of it can close. ``left_out`` counts what was found and did not fit. ``after``, ``at``,
    ``degraded`` and ``positions`` are as in a recall.
    """
    started, until = time.perf_counter(), deadline_of(dependencies, body.deadline_ms)
    tokens = body.tokens or dependencies.settings.recall.context_tokens
    limit = min(max(tokens // _TOKENS_OF_MEMORY, _FEWEST), _MOST)
    schema = dependencies.tenants.schema_of(caller.tenant.id)
    asked = build_recall_request(dependencies, body, caller, schema, limit=limit)
    tail = None if body.session is None else TailRequest(session=body.session, user=caller.key.user)
    seen = await wait_for(body.after, dependencies=dependencies, request=request, caller=caller, scope=asked.scope, tail=tail, until=until)
    at = await wait_until_reached(body.at, dependencies=dependencies, request=request, caller=caller, scope=asked.scope, until=until)
    prepared = await prepare(dependencies, request, caller, asked, mode=body.mode, until=until)
    async with dependencies.admission.turn(request, caller.tenant, results=results_read(dependencies, asked), until=until):
        found = await run_recall(
            dependencies, prepared.asked, schema, tail=tail, until=until, sifted=prepared.sifted, left_out=prepared.left_out
        )
        packed = pack(
            asked.scope,
            states=found.entities,
            hits=found.memories.hits,
            tail=_messages(found.tail),
            tokens=tokens,
            with_said=body.said,
        )
    shown = {each.id for each in packed.citations}
    memories = [each for each in (*(hit.memory for hit in found.memories.hits), *found.entities) if each.id in shown]
    answer = JsonResponse(
        {
            "recall_id": await record_recall(
                dependencies,
                asked,
                schema,
                memories,
                (*texts_of(memories), *packed.notes),
                trace,
                ranking=found.memories.kept_ranking,
            ),
            "context": packed.text,
            "tokens": packed.tokens,
            "citations": packed.citations,
            "left_out": packed.left_out,
            "after": seen,
            "at": at,
            **found.basis(dependencies.settings),
            "ms": round((time.perf_counter() - started) * 1000, 2),
        }
    )
    answer.headers.update(quota)
    return answer


def _messages(view: SessionView) -> list[Message]:
    """The tail's messages, oldest first; what is none is passed over."""
    messages = []
    for raw in (raw for window in (view.closed, view.open) if window is not None for raw in window.messages):
        try:
            messages.append(Message.from_json(raw))
        except RecordError as error:
            _log.warning("tail_holds_no_message", error=str(error))
    return messages
