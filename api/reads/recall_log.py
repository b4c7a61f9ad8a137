"""The log of recalls: writes in the background which memories each returned. ``api/reads/recall_records.py`` makes the records."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from api.reads.background_records import REST_S, BackgroundRecords
from memory.keys import encode_key
from memory.records import RecallRecord
from memory.topics import RECALLS, topic_name
from runtime.background import BackgroundBatches
from runtime.errors import RedisUnavailableError
from runtime.kafka import OutgoingRecord, Producer
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.redis.recall_history import RecallHistory, Returned
from runtime.redis.retrieval_counts import RetrievalCounts, Retrieved
from runtime.tracing import Headers

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
