"""Writes records to a topic in the background. No request waits for them."""

from collections.abc import Callable, Sequence
from typing import Final

from prometheus_client import Counter

from memory.errors import VarveError
from runtime.background import BackgroundBatches
from runtime.kafka import OutgoingRecord, Producer

REST_S: Final = 0.1
"""Delay of a batch: no caller waits for these records, and under load many of them share one call of Kafka or Redis."""


class BackgroundRecords:
    """Records that are produced in batches, each counted by its outcome: ``produced``, ``failed``, or ``dropped``.

    Args:
        producer: Writes the records.
        max_pending: Most pending records. Further ones are dropped.
        outcomes: Counts the records, by ``outcome``.
        on_failure: Called with the error when a record is not produced.
    """

    def __init__(self, *, producer: Producer, max_pending: int, outcomes: Counter, on_failure: Callable[[VarveError], None]) -> None:
        self._producer = producer
        self._outcomes = outcomes
        self._on_failure = on_failure
        self._records = BackgroundBatches(self._produce, max_pending=max_pending, rest_s=REST_S)

    def add(self, record: OutgoingRecord) -> None:
        """Schedules a record, and returns at once."""
        if not self._records.add(record):
            self._outcomes.labels(outcome="dropped").inc()

    async def close(self) -> None:
        """Waits for the pending records. The time-out of the producer bounds the wait."""
        await self._records.close()

    async def _produce(self, records: Sequence[OutgoingRecord]) -> None:
        for outcome in await self._producer.send_each(records):
            if isinstance(outcome, VarveError):
                self._outcomes.labels(outcome="failed").inc()
                self._on_failure(outcome)
            else:
                self._outcomes.labels(outcome="produced").inc()
