"""Records which memories a recall returned, in the background, and reports the basis of its response."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from api.background_records import REST_S, BackgroundRecords
from api.dependencies import Dependencies
from memory.keys import encode_key
from memory.positions import LogPosition
from memory.recall_ids import new_recall_id
from memory.records import Memory, Ranking, RecalledEvent, RecallRecord
from memory.records.wording import attributed_text
from memory.schema.model import MemorySchema
from memory.schema.operator_specs import driving_event_types
from memory.text import content_hash
from memory.topics import MESSAGES, RECALLS, topic_name
from retrieval.features import FEATURES
from retrieval.request import RecallRequest, RecallResponse
from runtime.background import BackgroundBatches
from runtime.errors import RedisUnavailableError
from runtime.kafka import OutgoingRecord, Producer
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.pieces import map_in_pieces
from runtime.recall_history import RecallHistory, Returned
from runtime.retrieval_counts import RetrievalCounts, Retrieved
from runtime.settings import Settings
from runtime.tracing import Headers, SpanContext, record_headers

_log = logger(__name__)


class RecallLog:
    """Records each recall twice: the hashes of the contents in Redis, which reveal echoes, and a record in the topic ``recalls``.

    A record that is lost while Redis or Kafka is unavailable loses no memory: an echo may be extracted again, and a use is not counted.

    Args:
        counts: Counts how often each memory was returned, for rankers that use it.
        max_bytes: The largest record. A larger one is written without its ranking.
        max_pending: Most pending records. Further ones are dropped and counted.
    """

    def __init__(
        self,
        *,
        producer: Producer,
        recall_history: RecallHistory,
        counts: RetrievalCounts,
        topic_prefix: str,
        max_bytes: int,
        max_pending: int,
        metrics: Metrics,
    ) -> None:
        self._recall_history = recall_history
        self._topic = topic_name(RECALLS, topic_prefix)
        self._max_bytes = max_bytes
        self._recalled = metrics.memories_recalled
        self._hashes = BackgroundBatches(self._keep_hashes, max_pending=max_pending, rest_s=REST_S)
        self._counts = BackgroundBatches(self._count, max_pending=max_pending, rest_s=REST_S)
        self._retrieval_counts = counts
        self._records = BackgroundRecords(
            producer=producer,
            max_pending=max_pending,
            outcomes=metrics.recall_records,
            on_failure=lambda error: _log.warning("recall_record_not_produced", error=str(error)),
        )

    def append(self, record: RecallRecord, headers: Headers, *, counts: bool = False) -> None:
        """Schedules a record to be written, and returns at once.

        Args:
            record: The record.
            headers: Its headers.
            counts: Whether the memories are counted as returned.
        """
        if counts:
            self._counts.add(Retrieved(record.tenant, record.memory_ids, record.time))
        if record.content_hashes:
            self._hashes.add(Returned(record.tenant, record.user, record.content_hashes))
        key = encode_key(record.tenant, record.user) if record.user else encode_key(record.tenant)
        value = record.to_json()
        if len(value) > self._max_bytes and record.ranking is not None:
            _log.info("recall_ranking_left_out", bytes=len(value), limit=self._max_bytes)
            value = record.model_copy(update={"ranking": None}).to_json()
        self._records.add(OutgoingRecord(self._topic, key, value, headers))

    async def close(self) -> None:
        """Waits for the pending records. The time-outs of Redis and of the producer bound the wait."""
        await asyncio.gather(self._hashes.close(), self._counts.close(), self._records.close())

    async def _keep_hashes(self, returned: Sequence[Returned]) -> None:
        with suppress(RedisUnavailableError):
            self._recalled.inc(await self._recall_history.add(returned))

    async def _count(self, retrieved: Sequence[Retrieved]) -> None:
        with suppress(RedisUnavailableError):
            await self._retrieval_counts.add(retrieved)


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
    profile = request.profile or dependencies.settings.recall.profile
    memories = {each.id: each for each in returned}
    kept = [*response.kept_ranking]
    record = RecallRecord(
        id=new_recall_id(request.scope.tenant, request.scope.user),
        tenant=request.scope.tenant,
        user=request.scope.user,
        generation=request.filter.generation or "",
        memory_ids=list(memories),
        events=[
            RecalledEvent(id=each.id, user=each.user, window_id=each.window_id)
            for each in memories.values()
            if each.kind == "event" and each.type in aging and each.user is not None and each.window_id is not None
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
    for each in memories:
        yield each.content
        if each.speaker is not None:
            yield attributed_text(each)
        if each.said is not None:
            yield each.said


def basis_of(response: RecallResponse, settings: Settings) -> dict[str, Any]:
    """The fields ``degraded`` and ``positions`` of an HTTP response: the data that it is based on."""
    place = response.tail.place
    session = None if place is None else LogPosition(settings.topic(MESSAGES.name), place.partition, place.offset)
    return {"degraded": response.degraded, "positions": {"memories": response.positions, "session": session}}
