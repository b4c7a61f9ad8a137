"""Produces records in batches and waits until the broker has them on as many replicas as ``min.insync.replicas`` says."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from memory.errors import RecordTooLargeError
from memory.keys import partition_of
from runtime.kafka import client_options
from runtime.kafka.closing import close_producer
from runtime.kafka.topics import DEAD_LETTER_HEADROOM_BYTES
from runtime.settings import KafkaSettings
from streams.delivery.records import Outgoing
from streams.errors import TransientError

_CLOSE_S: Final = 3.0
"""How long a producer may take to send what it holds and to close; it is ended by force after that."""

_BATCH_BYTES: Final = 1_000_000
"""A batch is closed at this size; a larger record has one to itself."""


class _SentBatch(NamedTuple):
    future: asyncio.Future[Any]
    indexes: list[int]
    """Which of the records to be sent it holds."""


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
        """Sends what is left, as far as that is quickly done, and disconnects."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await close_producer(producer, within_s=_CLOSE_S)

    async def send(self, records: Sequence[Outgoing], *, may_write: Callable[[], bool]) -> list[int]:
        """Produces records, in their order within each partition.

        It returns, or raises, when every batch is decided: a repetition must not be overtaken by what is left of the failed try.

        Args:
            records: What to produce.
            may_write: Asked before every request to the broker; when it says no, nothing more is sent.

        Returns:
            The offset of each record.

        Raises:
            TransientError: The broker did not confirm all of them; sending all again is harmless to those who read them.
            RecordTooLargeError: A record is larger than the limit.
        """
        grouped: dict[tuple[str, int], list[int]] = {}
        for index, record in enumerate(records):
            size = len(record.value or b"") + len(record.key or b"")
            if size > self._largest:
                raise RecordTooLargeError(f"a record of {size} bytes for {record.topic} is larger than {self._largest}")
            partition = partition_of(record.key or b"", self._partitions) if record.partition is None else record.partition
            grouped.setdefault((record.topic, partition), []).append(index)
        if self._producer is None:
            await self._reconnect()
        producer = self._started()
        sent: list[_SentBatch] = []
        partitions = (
            self._send_partition(producer, place, [(index, records[index]) for index in indexes], sent, may_write)
            for place, indexes in grouped.items()
        )
        unsent = await asyncio.gather(*partitions, return_exceptions=True)
        outcomes: list[Any] = await asyncio.gather(*(batch.future for batch in sent), return_exceptions=True)
        await self._raise_first([each for each in (*unsent, *outcomes) if isinstance(each, BaseException)], producer, len(records))
        offsets = [-1] * len(records)
        for batch, metadata in zip(sent, outcomes, strict=True):
            for place, index in enumerate(batch.indexes):
                offsets[index] = metadata.offset + place
        return offsets

    async def _raise_first(self, errors: Sequence[BaseException], producer: Any, count: int) -> None:
        refused = [error for error in errors if isinstance(error, (KafkaError, TimeoutError))]
        if refused:
            await self._renew(producer)
            if isinstance(refused[0], MessageSizeTooLargeError):
                raise RecordTooLargeError(f"the broker finds one of {count} records too large: {refused[0]!r}") from refused[0]
            raise TransientError(f"Kafka did not take {count} records: {refused[0]!r}", dependency="kafka") from refused[0]
        if errors:
            raise errors[0]

    async def _send_partition(
        self,
        producer: Any,
        place: tuple[str, int],
        records: Sequence[tuple[int, Outgoing]],
        sent: list[_SentBatch],
        may_write: Callable[[], bool],
    ) -> None:
        timestamp = int(time.time() * 1000)
        batch, indexes = producer.create_batch(), list[int]()
        for index, record in records:
            while batch.append(timestamp=timestamp, key=record.key, value=record.value, headers=list(record.headers)) is None:
                sent.append(_SentBatch(await self._dispatch(producer, batch, place, may_write), indexes))
                batch, indexes = producer.create_batch(), []
            indexes.append(index)
        sent.append(_SentBatch(await self._dispatch(producer, batch, place, may_write), indexes))

    async def _dispatch(self, producer: Any, batch: Any, place: tuple[str, int], may_write: Callable[[], bool]) -> asyncio.Future[Any]:
        batch.close()
        if not may_write():
            raise TransientError("the partition is being taken away", dependency="assignment")
        topic, partition = place
        # It waits for metadata and for the batch before; a producer that is closed meanwhile would let it wait for ever.
        async with asyncio.timeout(2 * self._kafka.request_timeout_s):
            future: asyncio.Future[Any] = await producer.send_batch(batch, topic, partition=partition)
        return future

    async def _renew(self, broken: Any) -> None:
        """Replaces a producer whose batch failed: its sequence numbers may have a gap, and the broker would refuse all that follows."""
        async with self._renewing:
            if self._producer is broken:
                self._producer = None
                await close_producer(broken, within_s=_CLOSE_S)

    async def _reconnect(self) -> None:
        async with self._renewing:
            if self._producer is None:
                try:
                    self._producer = await self._open()
                except KafkaError as error:
                    raise TransientError(f"no connection to Kafka at {self._kafka.bootstrap}: {error!r}", dependency="kafka") from error

    def _started(self) -> AIOKafkaProducer:
        if self._producer is None:
            raise TransientError("the producer is not connected", dependency="kafka")
        return self._producer
