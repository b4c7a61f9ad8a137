"""The record of a recall, and the data that its response is based on."""

from collections.abc import Iterable, Iterator
from typing import Any

from api.dependencies import Dependencies
from memory.positions import LogPosition
from memory.recall_ids import new_recall_id
from memory.records import Memory, Ranking, RecalledEvent, RecallRecord
from memory.records.wording import attributed_text
from memory.schema.model import MemorySchema
from memory.schema.operator_specs import driving_event_types
from memory.texts.text import content_hash
from memory.topics import MESSAGES
from retrieval.plan import profile_name
from retrieval.relevance.features import FEATURES
from retrieval.request import RecallRequest, RecallResponse
from runtime.pieces import map_in_pieces
from runtime.settings import Settings
from runtime.tracing import SpanContext, record_headers


async def record_recall(
    dependencies: Dependencies,
    request: RecallRequest,
    response: RecallResponse,
    schema: MemorySchema,
    returned: Iterable[Memory],
    texts: Iterable[str],
    trace: SpanContext,
) -> str:
    """Schedules the record of a recall in the topic ``recalls``.

    Args:
        dependencies: The clients and stores.
        request: The recall.
        response: Its result.
        schema: The tenant's schema.
        returned: The memories returned, best first.
        texts: Texts that may come back in the conversation as an echo.
        trace: The request's trace.

    Returns:
        The recall's id.
    """
    dependencies.metrics.count_recall(request.scope.tenant)
    aging = driving_event_types(schema, lambda spec: spec.ages)
    profile = profile_name(request.profile, request.method, dependencies.settings.recall)
    memories = {each.id: each for each in returned}
    kept = [*response.kept_ranking]
    record = RecallRecord(
        id=new_recall_id(request.scope.tenant, request.scope.user),
        tenant=request.scope.tenant,
        user=request.scope.user,
        generation=request.filter.generation or "",
        memory_ids=list(memories),
        events=[
            RecalledEvent(id=memory.id, user=memory.user, window_id=memory.window_id)
            for memory in memories.values()
            if memory.kind == "event" and memory.type in aging and memory.user is not None and memory.window_id is not None
        ],
        content_hashes=list(dict.fromkeys(await map_in_pieces(content_hash, texts))),
        time=dependencies.clock.now(),
        ranking=Ranking(query=request.query, profile=profile, features=[*FEATURES], candidates=kept) if kept else None,
    )
    counts = dependencies.profiles[profile].ranker.uses_retrievals
    dependencies.recall_log.append(record, record_headers(trace, record.time), counts=counts)
    return record.id


def texts_of(memories: Iterable[Memory]) -> Iterator[str]:
    """The texts of returned memories. Each may come back in the conversation as an echo."""
    for memory in memories:
        yield memory.content
        if memory.speaker is not None:
            yield attributed_text(memory)
        if memory.said is not None:
            yield memory.said


def basis_of(response: RecallResponse, settings: Settings) -> dict[str, Any]:
    """The fields ``degraded`` and ``positions`` of an HTTP response: the data that it is based on."""
    place = response.tail.place
    session = None if place is None else LogPosition(settings.topic(MESSAGES.name), place.partition, place.offset)
    return {"degraded": response.degraded, "positions": {"memories": response.positions, "session": session}}
