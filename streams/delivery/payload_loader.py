"""Reads records again whose contents were let go, one at a time, from their places in the log."""

import asyncio

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError, OffsetOutOfRangeError

from runtime.kafka import client_options
from runtime.settings import KafkaSettings
from streams.delivery.records import Delivered
from streams.errors import PoisonRecordError, TransientError

_FETCH_BYTES = 65_536
"""A record is fetched for itself: what lies behind it is mostly not its successor in turn. A larger one still comes whole."""


class PayloadLoader:
    """A consumer outside of any group, connected at the first reading. Use it as an async context manager.

    Args:
        kafka: Where the records are.
    """

    def __init__(self, *, kafka: KafkaSettings) -> None:
        self._kafka = kafka
        self._consumer: AIOKafkaConsumer | None = None
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> "PayloadLoader":
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._consumer is not None:
            await self._consumer.stop()

    async def read(self, record: Delivered) -> Delivered:
        """The record with its value.

        Args:
            record: The same without it.

        Raises:
            TransientError: The broker does not give it now.
            PoisonRecordError: ``expired``: the topic's retention has removed it while it waited for its turn.
        """
        where = f"{record.topic}/{record.partition}/{record.offset}"
        try:
            async with self._turn, asyncio.timeout(self._kafka.request_timeout_s):
                found = await self._fetch(TopicPartition(record.topic, record.partition), record.offset)
        except OffsetOutOfRangeError as error:
            raise self._expired(where) from error
        except (KafkaError, TimeoutError) as error:
            raise TransientError(f"{where} cannot be read again: {error!r}", dependency="kafka") from error
        if found.offset != record.offset:
            raise self._expired(where)
        return Delivered(
            record.topic, record.partition, record.offset, found.key, found.value, tuple(found.headers), found.timestamp / 1000
        )

    async def _fetch(self, place: TopicPartition, offset: int) -> ConsumerRecord[bytes | None, bytes | None]:
        consumer = await self._connected()
        consumer.assign([place])
        consumer.seek(place, offset)
        return await consumer.getone(place)

    async def _connected(self) -> AIOKafkaConsumer:
        if self._consumer is None:
            consumer = AIOKafkaConsumer(
                **client_options(self._kafka),
                enable_auto_commit=False,
                auto_offset_reset="none",
                max_partition_fetch_bytes=_FETCH_BYTES,
            )
            try:
                await consumer.start()
            except BaseException:
                await consumer.stop()
                raise
            self._consumer = consumer
        return self._consumer

    @staticmethod
    def _expired(where: str) -> PoisonRecordError:
        return PoisonRecordError("expired", f"{where} was removed by the topic's retention while it waited for its turn")
