"""Tells the stream which memories a recall returned, beside the answer and never in its way."""

import asyncio

from memory.errors import VarveError
from memory.keys import encode_key
from memory.records import RecallRecord
from memory.topics import RECALLS, topic_name
from runtime.errors import RedisUnavailableError
from runtime.kafka import Producer
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.recall_echoes import RecallEchoes
from runtime.tracing import Headers

_log = logger(__name__)


class RecallLog:
    """Notes recalls in the background: their contents' hashes in Redis, by which an echo is known again, and a record in ``recalls``.

    Losing one while Redis or Kafka is away loses no memory: an echo may be extracted again, and a use goes uncounted.

    Args:
        producer: Shared with the rest of the service.
        recalled: Where the hashes go.
        topic_prefix: Put before the topic's name.
        max_pending: Records waiting at once; more are dropped and counted.
        metrics: Where the outcomes are counted.
    """

    def __init__(self, *, producer: Producer, recalled: RecallEchoes, topic_prefix: str, max_pending: int, metrics: Metrics) -> None:
        if max_pending < 1:
            raise ValueError(f"max_pending must be at least 1, got {max_pending}")
        self._producer = producer
        self._recalled = recalled
        self._topic = topic_name(RECALLS, topic_prefix)
        self._max_pending = max_pending
        self._outcomes = metrics.recall_records
        self._pending: set[asyncio.Task[None]] = set()

    def note(self, record: RecallRecord, headers: Headers) -> None:
        """Takes a record over and returns at once."""
        if len(self._pending) >= self._max_pending:
            self._outcomes.labels(outcome="dropped").inc()
            return
        task = asyncio.create_task(self._note(record, headers))
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    async def close(self) -> None:
        """Waits for what is pending, which the time-outs of Redis and of the producer bound."""
        if self._pending:
            await asyncio.wait(self._pending)

    async def _note(self, record: RecallRecord, headers: Headers) -> None:
        await asyncio.gather(self._remember(record), self._produce(record, headers))

    async def _remember(self, record: RecallRecord) -> None:
        if record.user is None:
            return
        try:
            await self._recalled.add(record.tenant, record.user, record.content_hashes)
        except RedisUnavailableError as error:
            _log.warning("recalled contents not remembered", problem=str(error))

    async def _produce(self, record: RecallRecord, headers: Headers) -> None:
        key = encode_key(record.tenant, record.user) if record.user else encode_key(record.tenant)
        try:
            await self._producer.send(self._topic, key=key, value=record.to_json(), headers=headers)
        except VarveError as error:
            self._outcomes.labels(outcome="failed").inc()
            _log.warning("recall not recorded", problem=str(error))
        else:
            self._outcomes.labels(outcome="produced").inc()
