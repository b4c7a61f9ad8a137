"""``POST /v1/recall``: a query to the memory."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from api.authentication import RecallCaller
from api.dependencies import AppDependencies, RequestTrace
from api.explain_missing import WhyNots
from api.json_http import JsonResponse
from api.quota_dependency import RecallQuota
from api.read_at_position import wait_until_reached
from api.read_your_writes import wait_for
from api.recall_body import RecallBody
from api.recall_requests import build_recall_request, deadline_of
from api.recall_results import basis_of, record_recall, texts_of
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
    """Finds the tenant's memories that match a query, best first, each with its evidence: the ids of its source messages.

    200 with ``{recall_id, results: [{memory's fields, score, evidence, evidence_scores, superseded_by, keyword, parts?, ranks?}],
    confidence, entities, session, sift?, expansion?, why_not?, candidates?, after, at, degraded, positions, ms}``.

    - ``confidence``: the probability that the memories answer the query. If it is below the body's ``min_confidence``, there are no
      results. It is null if it is not calibrated: with another embedding model than the default one, and with a profile that has none.
    - ``keyword``: the keyword that led to a result of the keyword graph.
    - ``entities``: the nearest entities of the body's user. ``session``: the latest messages of the body's session.
    - ``candidates``: all candidates, with ``explain``.
    - ``after``: where the message of the body was found. ``at``: whether the store has reached the positions of the body, and how many
      memories were written after them.
    - ``positions``: the memories up to these positions of the change feed, at least, and the session's messages up to this one.
    - ``degraded``: the parts that are missing, because they were not found by the deadline, or a dependency is unavailable or fails:
      ``memories``, ``keywords``, ``entities``, ``session_tail``, and the model's ``sift`` or ``expansion``; then the results are those
      without it. If all parts are missing: 503, or 422 if the embedding model refuses the query.
    """
    started, until = time.perf_counter(), deadline_of(dependencies, body.deadline_ms)
    schema = dependencies.tenants.schema_of(caller.tenant.id)
    pipeline = dependencies.recall
    asked = build_recall_request(
        dependencies, body, caller, schema, limit=body.limit, explain=body.explain, trace=body.explain or bool(body.why_not)
    )
    scope = asked.scope
    seen = await wait_for(body.after, dependencies=dependencies, request=request, caller=caller, scope=scope, tail=asked.tail, until=until)
    at = await wait_until_reached(body.at, dependencies=dependencies, request=request, caller=caller, scope=scope, until=until)
    turn = dependencies.admission.turns_of(request, caller.tenant, until=until)
    rewritten = await pipeline.rewrite(asked, until=until, turn=turn)
    async with turn(pipeline.results_read(asked)):
        found = await pipeline.answer(rewritten, until=until)
        returned = [*(hit.memory for hit in found.hits), *found.entities]
        now = dependencies.clock.now()
        why_nots = WhyNots(store=dependencies.store, now=now, scope=caller.scope, request=rewritten.request, found=found)
        asks_why = body.why_not and "memories" not in found.degraded
        why_not = await attempt(why_nots.of(body.why_not), name="memories", until=until) if asks_why else ()
        hits = (hit.memory for hit in found.hits)
        recall_id = await record_recall(dependencies, asked, found, schema, hits, texts_of(returned), trace)
        answer = JsonResponse(
            {
                "recall_id": recall_id,
                "results": await map_in_pieces(lambda hit: _hit_fields(hit, explain=body.explain), found.hits),
                "confidence": found.confidence,
                "entities": [memory_fields(entity) for entity in found.entities],
                "session": None if body.session is None else {"session": body.session, **session_fields(found.tail)},
                **found.rewriting,
                **({"why_not": () if isinstance(why_not, Unavailable) else why_not} if body.why_not else {}),
                **({"candidates": await map_in_pieces(_candidate_fields, found.outcomes.items())} if body.explain else {}),
                "after": seen,
                "at": at,
                **basis_of(found, dependencies.settings),
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
    memory_id, outcome = candidate
    return {
        "id": memory_id,
        "outcome": outcome.outcome,
        "score": outcome.score,
        "rank": outcome.rank,
        "of": outcome.of,
        "parts": dict(outcome.parts),
        "ranks": dict(outcome.ranks),
    }
