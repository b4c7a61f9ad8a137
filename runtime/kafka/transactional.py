"""Produces records and commits source offsets in one Kafka transaction: all of it, or nothing (KIP-98)."""

import asyncio
import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, ProducerFenced
from aiokafka.structs import OffsetAndMetadata

from memory.errors import RecordTooLargeError
from memory.keys import partition_of
from runtime.errors import KafkaUnavailableError, ProducerFencedError
from runtime.kafka.client import client_options
from runtime.kafka.connecting import connect
from runtime.kafka.producer_connection import close_producer
from runtime.kafka.records import OutgoingRecord
from runtime.kafka.topics import largest_record_bytes
from runtime.settings import KafkaSettings

_CLOSE_S: Final = 2.0
"""How long an abort, and then closing, may take: whoever has the id next aborts what is left open."""

_RETRY_BACKOFF_MS: Final = 30
"""The coordinator refuses a transaction that begins while the markers of the one before are still being written: for milliseconds."""

_BATCH_BYTES: Final = 1_000_000
"""A batch is closed at this size; a larger record has one to itself."""


class TransactionalProducer:
    """The producer of one transactional id, of which the broker admits one holder at a time.

    After an error of :meth:`commit` the producer is stopped, and whether the transaction was committed is not known: :meth:`start` decides
    it, and the group's committed offset then tells which way.

    Args:
        kafka: Where the brokers are, and how long a transaction may stay open.
        transactional_id: Whoever starts a producer of this id fences the one before.
        partitions: How many partitions the topics have.
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
        """Whether the id is ours, as far as is known here."""
        return self._client is not None

    async def start(self) -> None:
        """Connects, fences whoever held the id, and waits until what that holder left open is aborted or committed.

        Raises:
            KafkaUnavailableError: If the transaction's coordinator does not answer in time.
        """
        await self.stop()
        client = AIOKafkaProducer(
            **client_options(self._kafka),
            acks="all",
            transactional_id=self._id,
            transaction_timeout_ms=int(self._kafka.transaction_timeout_s * 1000),
            linger_ms=0,
            retry_backoff_ms=_RETRY_BACKOFF_MS,
            max_batch_size=min(_BATCH_BYTES, self._kafka.max_message_bytes),
            compression_type=None if self._kafka.compression == "none" else self._kafka.compression,
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
        """Aborts a transaction that is open, as far as that is quickly done, and disconnects; harmless when repeated."""
        client, self._client = self._client, None
        if client is not None:
            await _abandon(client)

    async def commit(
        self, records: Sequence[OutgoingRecord], *, offsets: Mapping[TopicPartition, int | OffsetAndMetadata], group: str
    ) -> list[int]:
        """Produces records, in their order within each partition, and commits offsets, in one transaction.

        Args:
            records: What to produce.
            offsets: The offset of the next record that the group has to see, of each source partition.
            group: The consumer group whose offsets these are.

        Returns:
            The offset of each record.

        Raises:
            ProducerFencedError: Another producer has taken the id over: nothing of this transaction counts.
            RecordTooLargeError: A record is larger than the limit; nothing counts.
            KafkaUnavailableError: The broker did not confirm in time: start again, and look at the committed offset.
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
                raise RecordTooLargeError(f"the broker finds one of {len(records)} records too large: {error!r}") from error
            # aiokafka asserts the order of its states: one that broke meanwhile answers with AssertionError.
            if isinstance(error, (KafkaError, OSError, TimeoutError, AssertionError)):
                raise KafkaUnavailableError(f"a transaction of {self._id} was not confirmed: {error!r}") from error
            raise
        return written

    def _grouped(self, records: Sequence[OutgoingRecord]) -> dict[TopicPartition, list[int]]:
        grouped: dict[TopicPartition, list[int]] = {}
        for index, record in enumerate(records):
            largest = largest_record_bytes(record.topic, self._kafka)
            if record.size > largest:
                raise RecordTooLargeError(f"a record of {record.size} bytes for {record.topic} is larger than {largest}")
            partition = partition_of(record.key or b"", self._partitions) if record.partition is None else record.partition
            grouped.setdefault(TopicPartition(record.topic, partition), []).append(index)
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
    """Sends records as few batches; gives each batch's acknowledgement and which records it holds."""
    timestamp = int(time.time() * 1000)
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
    # The first failure ends the commit, and nobody asks the acknowledgements behind it.
    acknowledged.add_done_callback(_overlook_failure)
    return acknowledged


async def _cancel_all(tasks: Sequence["asyncio.Task[Any]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _abandon(client: AIOKafkaProducer) -> None:
    """Aborts what is open and closes; what cannot be aborted in time is aborted by the id's next holder, or by the broker's time-out."""
    for future in _asked_by_nobody(client):
        future.add_done_callback(_overlook_failure)
    with contextlib.suppress(KafkaError, OSError, TimeoutError, AssertionError):
        async with asyncio.timeout(_CLOSE_S):
            await client.abort_transaction()
    await close_producer(client, within_s=_CLOSE_S)


def _asked_by_nobody(client: AIOKafkaProducer) -> Iterator["asyncio.Future[Any]"]:
    """Futures that aiokafka fails with the whole producer, and awaits on ways alone that an abandoned one no longer takes.

    These are the end of the transaction, and the sending of each batch that lies unsent. What they would tell, the commit has told.
    """
    end = client._txn_manager.wait_for_transaction_end()  # noqa: SLF001 - nothing else shows them
    if end is not None:
        yield end
    for unsent in client._message_accumulator._batches.values():  # noqa: SLF001
        for batch in unsent:
            yield batch._drain_waiter  # noqa: SLF001


def _overlook_failure(future: "asyncio.Future[Any]") -> None:
    """Lets asyncio not warn of a failure that nobody awaits."""
    if not future.cancelled():
        future.exception()
