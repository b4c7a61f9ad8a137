"""``POST /v1/recall``: a query to the memory."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from api.authentication import RecallCaller
from api.dependencies import AppDependencies, RequestTrace
from api.explain_missing import WhyNots
from api.json_http import JsonResponse
from api.query_rewriting import prepare
from api.quota_dependency import RecallQuota
from api.read_at_position import wait_until_reached
from api.read_your_writes import wait_for
from api.recall_body import RecallBody
from api.recall_requests import build_recall_request
from api.recall_runs import TailRequest, deadline_of, record_recall, results_read, run_recall, texts_of
from api.request_body import body_schema, json_body
from api.responses import RECALLED
from api.routes.memories import memory_fields
from api.routes.sessions import session_fields
from retrieval.paths import Unavailable, attempt
from retrieval.request import CandidateOutcome, RecallHit
from runtime.pieces import map_in_pieces

router = APIRouter(tags=["read"])


@router.post("/v1/recall", openapi_extra=body_schema(RecallBody), responses=RECALLED)
async def recall_memories(
    request: Request,
    caller: RecallCaller,
    quota: RecallQuota,
    body: Annotated[RecallBody, Depends(json_body(RecallBody))],
    dependencies: AppDependencies,
    trace: RequestTrace,
) -> Response:
    """Finds the tenant's memories that match a query, best first, each with its evidence: the ids of the messages it comes from.

    200 with ``{recall_id, results: [{memory's fields, score, evidence, evidence_scores, superseded_by, keyword, parts?, ranks?}],
    confidence, entities, session, sift?, expansion?, why_not?, candidates?, after, at, degraded, positions, ms}``. ``confidence`` is
    how likely the memories answer the query: where it is below the body's ``min_confidence``, there are no results. It is null where it
    is not calibrated: with another embedding model than the default one, and with a profile that has none. ``keyword`` is what led to a
    result, where the keyword graph did. ``entities`` are the nearest of the body's user, ``session`` the newest messages of the body's
    session. ``candidates`` are all that was looked at, where ``explain`` asks for them. ``after`` says where the message was found that
    the body names, ``at`` whether the store has come to the positions that it asks at, and how many memories were written behind them.
    ``positions`` are what the answer rests on: the memories up to these places of the change feed, at least, and the session's messages
    up to this one. ``degraded`` names what is missing, since it was not found by the deadline or what it takes is away or fails:
    ``memories``, ``keywords``, ``entities``, ``session_tail``, and what a model was to do, ``sift`` or ``expansion``: then the results are
    as without it. If all is away or fails, 503; if the embedding model refuses the query, and nothing else answers, 422.
    """
    started, until = time.perf_counter(), deadline_of(dependencies, body.deadline_ms)
    schema = dependencies.tenants.schema_of(caller.tenant.id)
    asked = build_recall_request(
        dependencies, body, caller, schema, limit=body.limit, explain=body.explain, trace=body.explain or bool(body.why_not)
    )
    tail = None if body.session is None else TailRequest(session=body.session, user=caller.key.user)
    seen = await wait_for(body.after, dependencies=dependencies, request=request, caller=caller, scope=asked.scope, tail=tail, until=until)
    at = await wait_until_reached(body.at, dependencies=dependencies, request=request, caller=caller, scope=asked.scope, until=until)
    prepared = await prepare(dependencies, request, caller, asked, mode=body.mode, until=until)
    results = results_read(dependencies, asked)
    async with dependencies.admission.turn(request, caller.tenant, results=results, until=until):
        found = await run_recall(
            dependencies, prepared.asked, schema, tail=tail, until=until, sifted=prepared.sifted, left_out=prepared.left_out
        )
        returned = [*(hit.memory for hit in found.memories.hits), *found.entities]
        hits, texts = (hit.memory for hit in found.memories.hits), texts_of(returned)
        now = dependencies.clock.now()
        why_nots = WhyNots(store=dependencies.store, now=now, scope=caller.scope, request=prepared.asked, found=found)
        asks_why = body.why_not and "memories" not in found.degraded
        told = await attempt(why_nots.of(body.why_not), name="memories", until=until) if asks_why else ()
        recall_id = await record_recall(dependencies, asked, schema, hits, texts, trace, ranking=found.memories.kept_ranking)
        answer = JsonResponse(
            {
                "recall_id": recall_id,
                "results": await map_in_pieces(lambda hit: _hit_fields(hit, explain=body.explain), found.memories.hits),
                "confidence": found.memories.confidence,
                "entities": [memory_fields(entity) for entity in found.entities],
                "session": None if body.session is None else {"session": body.session, **session_fields(found.tail)},
                **prepared.fields,
                **({"why_not": () if isinstance(told, Unavailable) else told} if body.why_not else {}),
                **({"candidates": await map_in_pieces(_candidate_fields, found.memories.fates.items())} if body.explain else {}),
                "after": seen,
                "at": at,
                **found.basis(dependencies.settings),
                "ms": round((time.perf_counter() - started) * 1000, 2),
            }
        )
    answer.headers.update(quota)
    return answer


def _hit_fields(hit: RecallHit, *, explain: bool) -> dict[str, Any]:
    fields = {
        **memory_fields(hit.memory),
        "score": hit.score,
        "evidence": hit.evidence,
        "evidence_scores": hit.evidence_scores,
        "superseded_by": hit.superseded_by,
        "keyword": hit.keyword,
    }
    return {**fields, "parts": hit.parts, "ranks": hit.ranks} if explain else fields


def _candidate_fields(candidate: tuple[str, CandidateOutcome]) -> dict[str, Any]:
    memory_id, fate = candidate
    return {
        "id": memory_id,
        "outcome": fate.outcome,
        "score": fate.score,
        "rank": fate.rank,
        "of": fate.of,
        "parts": dict(fate.parts),
        "ranks": dict(fate.ranks),
    }
