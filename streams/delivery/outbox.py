"""Produces records in batches and waits until the broker has them on as many replicas as ``min.insync.replicas`` says."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from memory.errors import RecordTooLargeError
from memory.keys import partition_of
from runtime.kafka import client_options
from runtime.kafka.topics import DEAD_LETTER_HEADROOM_BYTES
from runtime.settings import KafkaSettings
from streams.delivery.records import Outgoing
from streams.errors import TransientFailure

_CLOSE_S: Final = 3.0
"""How long a broken producer may take to close."""

_BATCH_BYTES: Final = 1_000_000
"""A batch is closed at this size; a larger record has one to itself."""


class Outbox:
    """The producer of one worker: ``acks=all``, idempotent, one request per partition and step instead of one send per record.

    Args:
        kafka: Where to produce.
        partitions: How many partitions the topics have.
    """

    def __init__(self, *, kafka: KafkaSettings, partitions: int) -> None:
        self._kafka = kafka
        self._partitions = partitions
        self._largest = kafka.max_message_bytes + DEAD_LETTER_HEADROOM_BYTES
        self._producer: AIOKafkaProducer | None = None
        self._renewing = asyncio.Lock()

    async def start(self) -> None:
        """Connects."""
        self._producer = await self._open()

    async def _open(self) -> AIOKafkaProducer:
        producer = AIOKafkaProducer(
            **client_options(self._kafka),
            acks="all",
            enable_idempotence=True,
            linger_ms=0,
            max_batch_size=_BATCH_BYTES,
            max_request_size=self._largest + _BATCH_BYTES,
            compression_type=None if self._kafka.compression == "none" else self._kafka.compression,
        )
        try:
            await producer.start()
        except BaseException:
            await producer.stop()
            raise
        return producer

    async def stop(self) -> None:
        """Sends what is left, and disconnects."""
        if self._producer is not None:
            await self._producer.stop()
            self._producer = None

    async def send(self, records: Sequence[Outgoing], *, may_write: Callable[[], bool]) -> list[int]:
        """Produces records, in their order within each partition.

        Args:
            records: What to produce.
            may_write: Asked before every request to the broker; when it says no, nothing more is sent.

        Returns:
            The offset of each record.

        Raises:
            TransientFailure: The broker did not confirm all of them; sending all again is harmless to those who read them.
            RecordTooLargeError: A record is larger than the limit.
        """
        grouped: dict[tuple[str, int], list[int]] = {}
        for index, record in enumerate(records):
            size = len(record.value or b"") + len(record.key or b"")
            if size > self._largest:
                raise RecordTooLargeError(f"a record of {size} bytes for {record.topic} is larger than {self._largest}")
            partition = partition_of(record.key or b"", self._partitions) if record.partition is None else record.partition
            grouped.setdefault((record.topic, partition), []).append(index)
        offsets = [-1] * len(records)
        if self._producer is None:
            await self._reconnect()
        producer = self._producer
        try:
            await asyncio.gather(
                *(
                    self._send_partition(topic, partition, indexes, records, offsets, may_write)
                    for (topic, partition), indexes in grouped.items()
                )
            )
        except MessageSizeTooLargeError as error:
            await self._renew(producer)
            raise RecordTooLargeError(f"the broker finds one of {len(records)} records too large: {error!r}") from error
        except KafkaError as error:
            await self._renew(producer)
            raise TransientFailure(f"Kafka did not take {len(records)} records: {error!r}", dependency="kafka") from error
        return offsets

    async def _send_partition(
        self,
        topic: str,
        partition: int,
        indexes: list[int],
        records: Sequence[Outgoing],
        offsets: list[int],
        may_write: Callable[[], bool],
    ) -> None:
        producer = self._started()
        timestamp = int(time.time() * 1000)
        waiting: list[tuple[Any, list[int]]] = []
        batch, members = producer.create_batch(), list[int]()
        for index in indexes:
            record = records[index]
            while batch.append(timestamp=timestamp, key=record.key, value=record.value, headers=list(record.headers)) is None:
                waiting.append(await self._dispatch(batch, members, topic, partition, may_write))
                batch, members = producer.create_batch(), []
            members.append(index)
        waiting.append(await self._dispatch(batch, members, topic, partition, may_write))
        for future, sent in waiting:
            metadata = await future
            for place, index in enumerate(sent):
                offsets[index] = metadata.offset + place

    async def _dispatch(
        self, batch: Any, members: list[int], topic: str, partition: int, may_write: Callable[[], bool]
    ) -> tuple[Any, list[int]]:
        batch.close()
        if not may_write():
            raise TransientFailure("the partition is being taken away", dependency="assignment")
        return await self._started().send_batch(batch, topic, partition=partition), members

    async def _renew(self, broken: Any) -> None:
        """Replaces a producer whose batch failed: its sequence numbers may have a gap, and the broker would refuse all that follows."""
        async with self._renewing:
            if self._producer is broken and broken is not None:
                self._producer = None
                with contextlib.suppress(KafkaError, TimeoutError):
                    async with asyncio.timeout(_CLOSE_S):
                        await broken.stop()

    async def _reconnect(self) -> None:
        async with self._renewing:
            if self._producer is None:
                try:
                    self._producer = await self._open()
                except KafkaError as error:
                    raise TransientFailure(f"no connection to Kafka at {self._kafka.bootstrap}: {error!r}", dependency="kafka") from error

    def _started(self) -> AIOKafkaProducer:
        if self._producer is None:
            raise TransientFailure("the producer is not connected", dependency="kafka")
        return self._producer
