"""Produces records in batches and waits until the broker has them on as many replicas as ``min.insync.replicas`` says."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from memory.errors import RecordTooLargeError
from memory.keys import partition_of
from runtime.errors import KafkaUnavailableError
from runtime.kafka import OutgoingRecord, ProducerConnection, TopicPartition
from runtime.kafka.topics import DEAD_LETTER_HEADROOM_BYTES
from runtime.settings import KafkaSettings
from streams.errors import TransientError

_CLOSE_S: Final = 3.0
"""How long a producer may take to send what it holds and to close; it is ended by force after that."""

_BATCH_BYTES: Final = 1_000_000
"""A batch is closed at this size; a larger record has one to itself."""

_NO_OFFSET: Final = -1


class RecordProducer(Protocol):
    """What the drivers produce with."""

    async def send(self, records: Sequence[OutgoingRecord], *, may_write: Callable[[], bool]) -> list[int]:
        """As :meth:`BatchProducer.send`."""
        ...


class _Batch(NamedTuple):
    """A batch that was handed to the client."""

    acknowledgement: asyncio.Future[Any]
    indexes: list[int]
    """Which of the records to be sent it holds."""


class BatchProducer:
    """The producer of one worker: one request per partition and step instead of one send per record.

    Args:
        kafka: Where to produce.
        partitions: How many partitions the topics have.
        close_timeout_s: How long it may take to send what it holds and to close.
    """

    def __init__(self, *, kafka: KafkaSettings, partitions: int, close_timeout_s: float = _CLOSE_S) -> None:
        self._kafka = kafka
        self._partitions = partitions
        self._max_record_bytes = kafka.max_message_bytes + DEAD_LETTER_HEADROOM_BYTES
        self._connection = ProducerConnection(
            kafka=kafka,
            close_timeout_s=close_timeout_s,
            linger_ms=0,
            max_batch_size=_BATCH_BYTES,
            max_request_size=self._max_record_bytes + _BATCH_BYTES,
        )

    async def start(self) -> None:
        """Connects.

        Raises:
            KafkaUnavailableError: If no broker answers.
        """
        await self._connection.producer()

    async def stop(self) -> None:
        """Sends what is left, as far as that is quickly done, and disconnects."""
        await self._connection.close()

    async def send(self, records: Sequence[OutgoingRecord], *, may_write: Callable[[], bool]) -> list[int]:
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
        indexes_by_partition = self._by_partition(records)
        try:
            producer = await self._connection.producer()
        except KafkaUnavailableError as error:
            raise TransientError(str(error), dependency="kafka") from error
        sent: list[_Batch] = []
        sending = (
            self._send_partition(producer, partition, [(index, records[index]) for index in indexes], sent, may_write)
            for partition, indexes in indexes_by_partition.items()
        )
        unsent = await asyncio.gather(*sending, return_exceptions=True)
        outcomes: list[Any] = await asyncio.gather(*(batch.acknowledgement for batch in sent), return_exceptions=True)
        errors = [each for each in (*unsent, *outcomes) if isinstance(each, BaseException)]
        if errors:
            await self._raise_first(errors, producer, len(records))
        offsets = [_NO_OFFSET] * len(records)
        for batch, metadata in zip(sent, outcomes, strict=True):
            for offset, index in enumerate(batch.indexes, start=metadata.offset):
                offsets[index] = offset
        return offsets

    def _by_partition(self, records: Sequence[OutgoingRecord]) -> dict[TopicPartition, list[int]]:
        """The indexes of the records that go to each partition."""
        indexes: dict[TopicPartition, list[int]] = {}
        for index, record in enumerate(records):
            if record.size > self._max_record_bytes:
                raise RecordTooLargeError(f"a record of {record.size} bytes for {record.topic} is larger than {self._max_record_bytes}")
            partition = partition_of(record.key or b"", self._partitions) if record.partition is None else record.partition
            indexes.setdefault(TopicPartition(record.topic, partition), []).append(index)
        return indexes

    async def _raise_first(self, errors: Sequence[BaseException], producer: AIOKafkaProducer, count: int) -> None:
        refused = [error for error in errors if isinstance(error, (KafkaError, TimeoutError))]
        if not refused:
            raise errors[0]
        await self._connection.replace(producer)
        if isinstance(refused[0], MessageSizeTooLargeError):
            raise RecordTooLargeError(f"the broker finds one of {count} records too large: {refused[0]!r}") from refused[0]
        raise TransientError(f"Kafka did not take {count} records: {refused[0]!r}", dependency="kafka") from refused[0]

    async def _send_partition(
        self,
        producer: AIOKafkaProducer,
        partition: TopicPartition,
        records: Sequence[tuple[int, OutgoingRecord]],
        sent: list[_Batch],
        may_write: Callable[[], bool],
    ) -> None:
        timestamp = int(time.time() * 1000)
        batch, indexes = producer.create_batch(), list[int]()
        for index, record in records:
            while batch.append(timestamp=timestamp, key=record.key, value=record.value, headers=list(record.headers)) is None:
                sent.append(_Batch(await self._send_batch(producer, batch, partition, may_write), indexes))
                batch, indexes = producer.create_batch(), []
            indexes.append(index)
        sent.append(_Batch(await self._send_batch(producer, batch, partition, may_write), indexes))

    async def _send_batch(
        self, producer: AIOKafkaProducer, batch: Any, partition: TopicPartition, may_write: Callable[[], bool]
    ) -> asyncio.Future[Any]:
        batch.close()
        if not may_write():
            raise TransientError("the partition is being taken away", dependency="assignment")
        # It waits for metadata and for the batch before; a producer that is closed meanwhile would let it wait for ever.
        async with asyncio.timeout(2 * self._kafka.request_timeout_s):
            acknowledgement: asyncio.Future[Any] = await producer.send_batch(batch, partition.topic, partition=partition.partition)
        return acknowledgement
