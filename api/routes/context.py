"""``POST /v1/context``: the results of a recall as a text for a prompt."""

import time
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from api.authentication import RecallCaller
from api.dependencies import AppDependencies, RequestTrace
from api.json_http import JsonResponse
from api.quota_dependency import RecallQuota
from api.read_at_position import wait_until_reached
from api.read_your_writes import wait_for
from api.recall_body import ContextBody
from api.recall_requests import build_recall_request, deadline_of
from api.recall_results import basis_of, record_recall, texts_of
from api.request_body import body_schema, json_body
from api.responses import CONTEXT
from retrieval.context import hits_for

router = APIRouter(tags=["read"])


@router.post("/v1/context", openapi_extra=body_schema(ContextBody), responses=CONTEXT)
async def build_context(
    request: Request,
    caller: RecallCaller,
    quota: RecallQuota,
    body: Annotated[ContextBody, Depends(json_body(ContextBody))],
    dependencies: AppDependencies,
    trace: RequestTrace,
) -> Response:
    """Packs the results of a recall into a text for the user's part of a prompt, within a number of tokens.

    200 with ``{recall_id, context, tokens, citations: [{mark, id, kind, evidence}], left_out, after, at, degraded, positions, ms}``. Each
    line of the text begins with its mark: first the entities of the body's user, then summaries and events by time, then the latest
    messages of the body's session, so that the parts that change least come first. With ``said``, an event that a model worded is followed
    by the words of its first message. Delimiters enclose the text, and no line can close them. ``left_out`` is the number of results that
    did not fit. ``after``, ``at``, ``degraded`` and ``positions`` are as in a recall.
    """
    started, until = time.perf_counter(), deadline_of(dependencies, body.deadline_ms)
    tokens = body.tokens or dependencies.settings.recall.context_tokens
    schema = dependencies.tenants.schema_of(caller.tenant.id)
    pipeline = dependencies.recall
    asked = build_recall_request(dependencies, body, caller, schema, limit=hits_for(tokens))
    scope = asked.scope
    seen = await wait_for(body.after, dependencies=dependencies, request=request, caller=caller, scope=scope, tail=asked.tail, until=until)
    at = await wait_until_reached(body.at, dependencies=dependencies, request=request, caller=caller, scope=scope, until=until)
    turn = dependencies.admission.turns_of(request, caller.tenant, until=until)
    rewritten = await pipeline.rewrite(asked, until=until, turn=turn)
    async with turn(pipeline.results_read(asked)):
        found = await pipeline.answer(rewritten, until=until)
        packed = pipeline.pack(asked, found, tokens=tokens, with_said=body.said)
    shown = {each.id for each in packed.citations}
    memories = [each for each in (*(hit.memory for hit in found.hits), *found.entities) if each.id in shown]
    texts = (*texts_of(memories), *packed.notes)
    answer = JsonResponse(
        {
            "recall_id": await record_recall(dependencies, asked, found, schema, memories, texts, trace),
            "context": packed.text,
            "tokens": packed.tokens,
            "citations": packed.citations,
            "left_out": packed.left_out,
            "after": seen,
            "at": at,
            **basis_of(found, dependencies.settings),
            "ms": round((time.perf_counter() - started) * 1000, 2),
        }
    )
    answer.headers.update(quota)
    return answer
