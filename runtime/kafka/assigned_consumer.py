"""Consumer without a group, for reading single records: connects at its first use and serves one caller at a time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer

from runtime.kafka.client import client_options, connect
from runtime.settings import KafkaSettings


class UngroupedConsumer:
    """Reads uncommitted records, too, so it never waits for a transaction.

    Args:
        kafka: Kafka's settings.
        fetch_bytes: Limit for the bytes of a partition in one fetch; a larger record is still returned whole.
    """

    def __init__(self, *, kafka: KafkaSettings, fetch_bytes: int) -> None:
        self._kafka = kafka
        self._fetch_bytes = fetch_bytes
        self._consumer: AIOKafkaConsumer | None = None
        self._reading = asyncio.Lock()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AIOKafkaConsumer]:
        """The connected client, for one caller at a time, for at most the request time-out.

        Raises:
            KafkaError: If no broker answers.
            TimeoutError: If the block takes longer than the request time-out.
        """
        async with self._reading, asyncio.timeout(self._kafka.request_timeout_s):
            yield await self._connected()

    async def stop(self) -> None:
        """Disconnects; may be called repeatedly."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await consumer.stop()

    async def _connected(self) -> AIOKafkaConsumer:
        if self._consumer is None:
            consumer = AIOKafkaConsumer(
                **client_options(self._kafka),
                enable_auto_commit=False,
                auto_offset_reset="none",
                isolation_level="read_uncommitted",
                max_partition_fetch_bytes=self._fetch_bytes,
            )
            try:
                await connect(consumer)
            except BaseException:
                await consumer.stop()
                raise
            self._consumer = consumer
        return self._consumer
