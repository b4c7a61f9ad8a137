"""Writes the outcomes of deliveries to their topic."""

import asyncio
from collections.abc import Iterable
from typing import Final

from api.webhooks.topic import delivery_record, end_record
from memory.errors import VarveError
from memory.records import WebhookDelivery
from runtime.background import run_in_background
from runtime.kafka import OutgoingRecord, Producer
from runtime.logs import logger

_log = logger(__name__)

_PAUSE_S: Final = 1.0
"""Pause before records are written again after a failure."""


class OutcomeWriter:
    """Writes outcomes in the background, in order: the newest record of a delivery counts.

    A process that dies before its outcomes are written attempts these deliveries again, with the same ids.

    Args:
        producer: Writes.
        topic: The name of the topic of deliveries on the broker.
    """

    def __init__(self, producer: Producer, topic: str) -> None:
        self._producer = producer
        self._topic = topic
        self._waiting: list[OutgoingRecord] = []
        """Oldest first."""
        self._task: asyncio.Task[None] | None = None

    def keep(self, deliveries: Iterable[WebhookDelivery]) -> None:
        """Writes the new state of deliveries that wait or are dead letters."""
        self._write(delivery_record(self._topic, delivery) for delivery in deliveries)

    def end(self, deliveries: Iterable[WebhookDelivery]) -> None:
        """Writes the tombstones of deliveries that have ended."""
        self._write(end_record(self._topic, delivery) for delivery in deliveries)

    async def drop(self) -> None:
        """Forgets everything that is not written yet, for example because another process has the partitions now."""
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _write(self, records: Iterable[OutgoingRecord]) -> None:
        self._waiting += records
        if self._waiting and (self._task is None or self._task.done()):
            self._task = run_in_background("webhook-outcomes", self._write_waiting())

    async def _write_waiting(self) -> None:
        while self._waiting:
            records = tuple(self._waiting)
            try:
                await self._producer.send_in_batches(records)
            except VarveError as error:
                _log.warning("webhook_outcomes_not_written", error=str(error))
                await asyncio.sleep(_PAUSE_S)
            else:
                del self._waiting[: len(records)]
