"""Produces records and commits source offsets atomically, in one Kafka transaction (KIP-98)."""

import asyncio
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.errors import InvalidTimestampError, KafkaError, MessageSizeTooLargeError, ProducerFenced
from aiokafka.structs import OffsetAndMetadata

from memory.errors import RecordTooLargeError
from runtime.clocks import ForwardClock
from runtime.errors import KafkaUnavailableError, ProducerFencedError
from runtime.kafka.client import CLOCK_AHEAD, connect, producer_options
from runtime.kafka.producer import OutgoingRecord, retrieve_exception
from runtime.kafka.producer_connection import close_producer
from runtime.kafka.topics import largest_record_bytes
from runtime.settings import KafkaSettings

_CLOSE_S: Final = 2.0
"""Time limit for an abort, and again for closing: the next producer of the id aborts a transaction that is still open."""

_RETRY_BACKOFF_MS: Final = 30
"""The coordinator refuses a new transaction for some milliseconds, while it writes the markers of the previous one."""

_BATCH_BYTES: Final = 1_000_000
"""Limit for a batch; a larger record is a batch alone."""


_CLOCK: Final = ForwardClock()
"""Kafka deletes records by their times: a machine's clock that steps back by days must not make new records old."""


class TransactionalProducer:
    """The producer of one transactional id; the broker permits one holder at a time.

    After an error of :meth:`commit` the producer is stopped, and it is unknown whether the transaction was committed. :meth:`start`
    completes or aborts it; then the group's committed offset shows the result.

    Args:
        kafka: Kafka's settings, including the transaction time-out.
    """

    def __init__(self, *, kafka: KafkaSettings, transactional_id: str, partitions: int) -> None:
        if partitions < 1:
            raise ValueError(f"partitions must be at least 1, got {partitions}")
        self._kafka = kafka
        self._id = transactional_id
        self._partitions = partitions
        self._client: AIOKafkaProducer | None = None

    @property
    def is_started(self) -> bool:
        """Whether this producer holds the id, as far as it knows."""
        return self._client is not None

    async def start(self) -> None:
        """Connects, fences the previous holder of the id, and waits until its open transaction is aborted or committed.

        Raises:
            KafkaUnavailableError: If the transaction's coordinator does not answer in time.
        """
        await self.stop()
        client = AIOKafkaProducer(
            **producer_options(self._kafka),
            transactional_id=self._id,
            transaction_timeout_ms=int(self._kafka.transaction_timeout_s * 1000),
            linger_ms=0,
            retry_backoff_ms=_RETRY_BACKOFF_MS,
            max_batch_size=min(_BATCH_BYTES, self._kafka.max_message_bytes),
        )
        try:
            async with asyncio.timeout(self._kafka.request_timeout_s):
                await connect(client)
        except (KafkaError, OSError, TimeoutError) as error:
            await close_producer(client, within_s=_CLOSE_S)
            raise KafkaUnavailableError(f"transactional id {self._id} cannot be taken over: {error!r}") from error
        except BaseException:
            await close_producer(client, within_s=_CLOSE_S)
            raise
        self._client = client

    async def stop(self) -> None:
        """Aborts an open transaction, within a short time limit, and disconnects; may be called repeatedly."""
        client, self._client = self._client, None
        if client is not None:
            await _abandon(client)

    async def commit(
        self, records: Sequence[OutgoingRecord], *, offsets: Mapping[TopicPartition, int | OffsetAndMetadata], group: str
    ) -> list[int]:
        """Produces records, in order within each partition, and commits offsets, in one transaction.

        Args:
            records: The records.
            offsets: The offset of the next record to read, by source partition.
            group: The consumer group of the offsets.

        Returns:
            The offset of each record.

        Raises:
            ProducerFencedError: Another producer holds the id; the transaction is aborted.
            RecordTooLargeError: A record exceeds the limit; the transaction is aborted.
            KafkaUnavailableError: The broker did not confirm in time: call :meth:`start`, then read the committed offset.
        """
        grouped = self._grouped(records)
        client = self._client
        if client is None:
            raise KafkaUnavailableError(f"the producer of transactional id {self._id} is not started")
        try:
            async with asyncio.timeout(self._kafka.transaction_timeout_s):
                await client.begin_transaction()
                written = await self._produce(client, records, grouped)
                if offsets:
                    await client.send_offsets_to_transaction(dict(offsets), group)
                await client.commit_transaction()
        except BaseException as error:
            self._client = None
            await _abandon(client)
            if isinstance(error, ProducerFenced):
                raise ProducerFencedError(f"transactional id {self._id} is held by another producer") from error
            if isinstance(error, MessageSizeTooLargeError):
                raise RecordTooLargeError(f"the broker rejects one of {len(records)} records as too large: {error!r}") from error
            # aiokafka asserts the order of its states: a client that broke meanwhile raises AssertionError.
            if isinstance(error, (KafkaError, OSError, TimeoutError, AssertionError)):
                what = CLOCK_AHEAD if isinstance(error, InvalidTimestampError) else repr(error)
                raise KafkaUnavailableError(f"a transaction of {self._id} was not confirmed: {what}") from error
            raise
        return written

    def _grouped(self, records: Sequence[OutgoingRecord]) -> dict[TopicPartition, list[int]]:
        grouped: dict[TopicPartition, list[int]] = {}
        for index, record in enumerate(records):
            largest = largest_record_bytes(record.topic, self._kafka)
            if record.size > largest:
                raise RecordTooLargeError(f"a record of {record.size} bytes for {record.topic} is larger than {largest}")
            grouped.setdefault(TopicPartition(record.topic, record.partition_among(self._partitions)), []).append(index)
        return grouped

    async def _produce(
        self, client: AIOKafkaProducer, records: Sequence[OutgoingRecord], grouped: Mapping[TopicPartition, list[int]]
    ) -> list[int]:
        written = [-1] * len(records)

        async def produce_partition(partition: TopicPartition, indexes: list[int]) -> None:
            sent = await _send_batches(client, partition, [(index, records[index]) for index in indexes])
            for acknowledged, batch in sent:
                metadata = await acknowledged
                for offset, index in enumerate(batch, start=metadata.offset):
                    written[index] = offset

        async with contextlib.AsyncExitStack() as stack:
            tasks = [asyncio.create_task(produce_partition(*each)) for each in grouped.items()]
            stack.push_async_callback(_cancel_all, tasks)
            for task in tasks:
                await task
        return written


async def _send_batches(
    client: AIOKafkaProducer, partition: TopicPartition, records: Sequence[tuple[int, OutgoingRecord]]
) -> list[tuple["asyncio.Future[Any]", list[int]]]:
    """Sends records in few batches; returns each batch's acknowledgement with the indexes of its records."""
    timestamp = int(_CLOCK.now().timestamp() * 1000)
    sent: list[tuple[asyncio.Future[Any], list[int]]] = []
    batch, indexes = client.create_batch(), list[int]()
    for index, record in records:
        while batch.append(timestamp=timestamp, key=record.key, value=record.value, headers=list(record.headers)) is None:
            sent.append((await _send_batch(client, batch, partition), indexes))
            batch, indexes = client.create_batch(), []
        indexes.append(index)
    sent.append((await _send_batch(client, batch, partition), indexes))
    return sent


async def _send_batch(client: AIOKafkaProducer, batch: Any, partition: TopicPartition) -> "asyncio.Future[Any]":
    batch.close()
    acknowledged: asyncio.Future[Any] = await client.send_batch(batch, partition.topic, partition=partition.partition)
    # The first failure ends the commit; later acknowledgements are never awaited.
    acknowledged.add_done_callback(retrieve_exception)
    return acknowledged


async def _cancel_all(tasks: Sequence["asyncio.Task[Any]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _abandon(client: AIOKafkaProducer) -> None:
    """Aborts the open transaction and closes. If that takes too long, the id's next holder or the broker's time-out aborts it."""
    for future in _unawaited(client):
        future.add_done_callback(retrieve_exception)
    try:
        with contextlib.suppress(KafkaError, OSError, TimeoutError, AssertionError):
            async with asyncio.timeout(_CLOSE_S):
                await client.abort_transaction()
    finally:
        # Also if the caller is cancelled meanwhile: the client would continue to reconnect, under an id that others hold.
        await close_producer(client, within_s=_CLOSE_S)


def _unawaited(client: AIOKafkaProducer) -> Iterator["asyncio.Future[Any]"]:
    """Futures that aiokafka fails with the producer, and that nothing awaits once the producer is abandoned.

    These are the end of the transaction and the sending of each unsent batch. The commit has already reported the error.
    """
    end = client._txn_manager.wait_for_transaction_end()  # noqa: SLF001 - no public accessor
    if end is not None:
        yield end
    for unsent in client._message_accumulator._batches.values():  # noqa: SLF001
        for batch in unsent:
            yield batch._drain_waiter  # noqa: SLF001
