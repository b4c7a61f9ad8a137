"""``POST /v1/recall``, ``/v1/context`` and ``/v1/feedback``: a query, its results as a text for a prompt, and which were useful."""

import asyncio
from typing import Annotated, Any, Final, Self

from fastapi import APIRouter, Depends, Request
from pydantic import Field, model_validator
from starlette.responses import Response

from api.dependencies import AppDependencies, RequestTrace
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel, refusals
from api.http.request_body import body_schema, json_body
from api.limits.route_admission import AdmittedRecall
from api.problems import ProblemError
from api.reads.explain_missing import WhyNots
from api.reads.memory_fields import candidate_fields, hit_fields, memory_fields
from api.reads.recall_body import ContextBody, RecallBody
from api.reads.recall_call import RecallCall
from api.reads.recall_records import texts_of
from api.response_models.recalls import CONTEXT, FEEDBACK_TAKEN, RECALLED
from api.routes.sessions import session_fields
from memory.headers import FEEDBACK, KIND
from memory.keys import encode_key
from memory.recall_ids import is_recall_of
from memory.records import FeedbackRecord
from memory.records.message import Name
from memory.topics import RECALLS
from retrieval.context import hits_for
from retrieval.paths import Unavailable, attempt
from retrieval.steps import recorded_steps
from runtime.pieces import map_in_pieces
from runtime.tracing import record_headers

router = APIRouter(tags=["read"])


@router.post("/v1/recall", openapi_extra=body_schema(RecallBody), responses=RECALLED)
async def recall_memories(
    request: Request,
    admitted: AdmittedRecall,
    body: Annotated[RecallBody, Depends(json_body(RecallBody))],
    dependencies: AppDependencies,
    trace: RequestTrace,
) -> Response:
    """Finds the tenant's memories that match a query, best first, each with its evidence: the ids of its source messages.

    200 with ``{recall_id, results: [{memory's fields, score, evidence, evidence_scores, superseded_by, repeated_by, keyword, parts?,
    ranks?}], confidence, entities, session, sift?, expansion?, why_not?, candidates?, after, at, degraded, positions, ms}``.

    - ``confidence``: the probability that the memories answer the query. If it is below the body's ``min_confidence``, there are no
      results. It is null if it is not calibrated: with another embedding model than the default one, or a profile without calibration.
    - ``repeated_by``: the one of ``entities`` that has the event's words. Of the two, a prompt needs one.
    - ``keyword``: the keyword that led to a result of the keyword graph.
    - ``entities``: the nearest entities of the body's user. ``session``: the latest messages of the body's session.
    - ``candidates``: all candidates, with ``explain``. ``steps``: the time and the number of candidates of each step, with ``explain``.
    - ``after``: where the message of the body was found. ``at``: whether the store has reached the positions of the body, and how many
      memories were written after them.
    - ``positions``: the memories up to these positions of the change feed, at least, and the session's messages up to this one.
    - ``degraded``: the parts that are missing, because they were not found by the deadline, or a dependency is unavailable or fails:
      ``memories``, ``keywords``, ``entities``, ``session_tail``, and the model's ``sift`` or ``expansion``; then the results are those
      without it. If all parts are missing: 503, or 422 if the embedding model refuses the query.
    """
    caller, quota = admitted
    call = RecallCall(request, caller, body, dependencies, limit=body.limit, explain=body.explain, trace=body.explain or bool(body.why_not))
    with recorded_steps(wanted=body.explain) as steps:
        async with call.answered() as found:
            returned = [*(hit.memory for hit in found.hits), *found.entities]
            why_nots = WhyNots(
                store=dependencies.store, now=dependencies.clock.now(), scope=caller.scope, request=call.rewritten, found=found
            )
            asks_why = body.why_not and "memories" not in found.degraded
            why_not = await attempt(why_nots.of(body.why_not), name="memories", until=call.until) if asks_why else ()
            dependencies.read_audit.note(caller, "recall", returned)
            fields: dict[str, Any] = {
                "results": await map_in_pieces(lambda hit: hit_fields(hit, explain=body.explain), found.hits),
                "confidence": found.confidence,
                "entities": [memory_fields(entity) for entity in found.entities],
                "session": None if body.session is None else {"session": body.session, **session_fields(found.tail)},
                **({"why_not": () if isinstance(why_not, Unavailable) else why_not} if body.why_not else {}),
                **({"candidates": await map_in_pieces(candidate_fields, found.outcomes.items())} if body.explain else {}),
                **({"steps": steps} if body.explain else {}),
            }
            hits = (hit.memory for hit in found.hits)
            return await call.response(found, fields, returned=hits, texts=texts_of(returned), trace=trace, headers=quota)


@router.post("/v1/context", openapi_extra=body_schema(ContextBody), responses=CONTEXT)
async def build_context(
    request: Request,
    admitted: AdmittedRecall,
    body: Annotated[ContextBody, Depends(json_body(ContextBody))],
    dependencies: AppDependencies,
    trace: RequestTrace,
) -> Response:
    """Packs the results of a recall into a text for the user's part of a prompt, within a number of tokens.

    200 with ``{recall_id, context, tokens, citations: [{mark, id, kind, evidence}], left_out, sift?, expansion?, after, at, degraded,
    positions, ms}``. Each line of the text begins with its mark: first the entities of the body's user, then summaries and events by time,
    then the latest messages of the body's session, so that the parts that change least come first. With ``said``, an event that a model
    worded is followed by the words of its first message. Delimiters enclose the text, and no line can close them. ``left_out`` is the
    number of results that did not fit. Events far weaker than the best one are not included, even if they fit. ``sift``, ``expansion``,
    ``after``, ``at``, ``degraded`` and ``positions`` are as in a recall.
    """
    caller, quota = admitted
    tokens = body.tokens or dependencies.settings.recall.context_tokens
    call = RecallCall(request, caller, body, dependencies, limit=hits_for(tokens))
    async with call.answered() as found:
        # A long context takes tens of milliseconds, and more if the session's messages are long.
        packed = await asyncio.to_thread(dependencies.recall.pack, call.recall, found, tokens=tokens, with_said=body.said)
    shown = {citation.id for citation in packed.citations}
    recalled = (*(hit.memory for hit in found.hits), *found.entities)
    memories = [memory for memory in recalled if memory.id in shown]
    dependencies.read_audit.note(caller, "context", memories)
    fields: dict[str, Any] = {"context": packed.text, "tokens": packed.tokens, "citations": packed.citations, "left_out": packed.left_out}
    texts = (*texts_of(memories), *packed.notes)
    return await call.response(found, fields, returned=memories, texts=texts, trace=trace, headers=quota)


_MAX_MEMORIES: Final = 1000
"""Maximum number of results of a recall."""

_Memories = Annotated[list[Name], Field(max_length=_MAX_MEMORIES)]


class FeedbackBody(RequestModel):
    """Feedback on the results of a recall."""

    recall_id: Name
    """The id from the response of the recall or context."""
    user: Name | None = None
    """The user that the recall named; null if it named none."""
    useful: _Memories = Field(default_factory=list)
    """Ids of useful memories."""
    useless: _Memories = Field(default_factory=list)
    """Ids of useless memories."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if not (self.useful or self.useless):
            raise ValueError("name at least one memory in useful or in useless")
        if both := sorted({*self.useful} & {*self.useless}):
            raise ValueError(f"these memories are in both useful and useless: {', '.join(both[:5])}")
        return self


@router.post("/v1/feedback", openapi_extra=body_schema(FeedbackBody), responses=FEEDBACK_TAKEN | refusals(404))
async def send_feedback(
    admitted: AdmittedRecall,
    body: Annotated[FeedbackBody, Depends(json_body(FeedbackBody))],
    dependencies: AppDependencies,
    trace: RequestTrace,
) -> Response:
    """Records which results of a recall were useful, next to the recall's record in the topic ``recalls``. Counts as a recall.

    200 with ``{position: {topic, partition, offset}}`` once it is durable in Kafka. The last feedback on a recall counts. 404 if the id is
    of no recall of the tenant with the same user.
    """
    caller, quota = admitted
    tenant, user = caller.tenant.id, caller.user_of(body.user)
    if not is_recall_of(body.recall_id, tenant, user):
        whose = "without a user" if user is None else f"for the user {user!r}"
        raise ProblemError(
            404,
            "not-found",
            f"recall_id: no recall {whose} has the id {body.recall_id[:80]!r}; send the response's recall_id, and the request's user",
        )
    now = dependencies.clock.now()
    record = FeedbackRecord(recall_id=body.recall_id, tenant=tenant, user=user, useful=body.useful, useless=body.useless, time=now)
    position = await dependencies.producer.send(
        dependencies.settings.topic(RECALLS.name),
        key=encode_key(tenant) if user is None else encode_key(tenant, user),
        value=record.to_json(),
        headers=(*record_headers(trace, now), (KIND, FEEDBACK)),
    )
    return JsonResponse({"position": position}, headers=quota)
