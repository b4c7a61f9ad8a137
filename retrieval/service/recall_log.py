"""Records which memories a recall returned, in the background, so that the response never waits."""

import asyncio
from contextlib import suppress

from memory.errors import VarveError
from memory.keys import encode_key
from memory.records import RecallRecord
from memory.topics import RECALLS, topic_name
from runtime.errors import RedisUnavailableError
from runtime.kafka import Producer
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.recall_history import RecallHistory
from runtime.tracing import Headers

_log = logger(__name__)


class RecallLog:
    """Records each recall twice: the hashes of the contents in Redis, which reveal echoes, and a record in the ``recalls`` topic.

    A record that is lost while Redis or Kafka is unavailable loses no memory: an echo may be extracted again, and a use is not counted.

    Args:
        producer: Shared with the rest of the service.
        recall_history: Keeps the hashes.
        topic_prefix: Prefix of the topic's name.
        max_pending: Most records that wait at the same time. Further ones are dropped and counted.
        metrics: Counts the outcomes.
    """

    def __init__(self, *, producer: Producer, recall_history: RecallHistory, topic_prefix: str, max_pending: int, metrics: Metrics) -> None:
        if max_pending < 1:
            raise ValueError(f"max_pending must be at least 1, got {max_pending}")
        self._producer = producer
        self._recall_history = recall_history
        self._topic = topic_name(RECALLS, topic_prefix)
        self._max_pending = max_pending
        self._outcomes = metrics.recall_records
        self._pending: set[asyncio.Task[None]] = set()

    def append(self, record: RecallRecord, headers: Headers) -> None:
        """Schedules a record to be written, and returns at once."""
        if len(self._pending) >= self._max_pending:
            self._outcomes.labels(outcome="dropped").inc()
            return
        task = asyncio.create_task(self._write(record, headers))
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    async def close(self) -> None:
        """Waits for the pending records. The time-outs of Redis and of the producer bound the wait."""
        if self._pending:
            await asyncio.wait(self._pending)

    async def _write(self, record: RecallRecord, headers: Headers) -> None:
        await asyncio.gather(self._add_hashes(record), self._produce(record, headers))

    async def _add_hashes(self, record: RecallRecord) -> None:
        if record.user is None:
            return
        with suppress(RedisUnavailableError):
            await self._recall_history.add(record.tenant, record.user, record.content_hashes)

    async def _produce(self, record: RecallRecord, headers: Headers) -> None:
        key = encode_key(record.tenant, record.user) if record.user else encode_key(record.tenant)
        try:
            await self._producer.send(self._topic, key=key, value=record.to_json(), headers=headers)
        except VarveError as error:
            self._outcomes.labels(outcome="failed").inc()
            _log.warning("recall_record_not_produced", error=str(error))
        else:
            self._outcomes.labels(outcome="produced").inc()
