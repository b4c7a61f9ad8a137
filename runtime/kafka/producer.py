"""Produces records that are durable when the call returns."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError
from aiokafka.structs import RecordMetadata

from memory.errors import RecordTooLargeError, VarveError
from memory.keys import partition_of
from memory.positions import LogPosition
from memory.topics import DEAD_LETTERS, topic_name
from runtime.clocks import Clock, SystemClock
from runtime.errors import ClockError
from runtime.kafka.client import kafka_faults
from runtime.kafka.producer_connection import ProducerConnection
from runtime.kafka.topics import largest_record_bytes
from runtime.settings import KafkaSettings
from runtime.tracing import Headers

_LENGTH_BYTES: Final = 5
"""Maximum size of a length field."""
_FRAME_BYTES: Final = 61 + 21 + 3 * _LENGTH_BYTES
"""Maximum overhead of a batch with one record, without key, value and headers (message format of KIP-98)."""


@dataclass(frozen=True, slots=True)
class OutgoingRecord:
    """A record to produce."""

    topic: str
    """The topic's name on the broker, with prefix."""
    key: bytes | None
    """None: no key, as in some foreign records; such a record needs a partition."""
    value: bytes | None
    """The value; None: a tombstone."""
    headers: Headers = ()
    partition: int | None = None
    """Default: the partition of the key, by :func:`memory.keys.partition_of`."""

    @property
    def size(self) -> int:
        """Maximum size of a batch with only this record, uncompressed, with headers, in bytes."""
        # A foreign record's header may have no value.
        headers = sum(2 * _LENGTH_BYTES + len(name.encode()) + len(value or b"") for name, value in self.headers)
        return _FRAME_BYTES + len(self.key or b"") + len(self.value or b"") + headers

    def partition_among(self, partitions: int) -> int:
        """The record's partition in a topic of so many."""
        return partition_of(self.key or b"", partitions) if self.partition is None else self.partition


_ANY_BYTES: Final = 2**31 - 1
_BATCH: Final = 500
_LOG_APPEND_TIME: Final = 1
"""Type of a record's time that the broker has set."""


class Producer:
    """Produces with ``acks=all`` and idempotence: an acknowledged record is stored exactly once, on all in-sync replicas.

    Records for one partition keep the order of the calls. After a failure the record may still arrive later, so a retry has to use the same
    id.

    Args:
        kafka: Kafka's settings, including linger time and limits of sizes.
        timeout_s: How long a call waits for durability. Default: ``kafka.request_timeout_s``.
        max_ahead_s: How far this machine's clock may be ahead of the broker's, where the broker sets the time of the records. Beyond, a
            record counts as not sent, though the log has it: the stages refuse it. Default: no limit.
        max_behind_s: The same for a clock that is slow. Default: no limit.
        clock: This machine's clock.
        fits_compressed: Always compresses and lets the broker check the size, for foreign records that were compressed. The limit for
            values still applies.
    """

    def __init__(
        self,
        *,
        kafka: KafkaSettings,
        timeout_s: float | None = None,
        max_ahead_s: float = math.inf,
        max_behind_s: float = math.inf,
        clock: Clock | None = None,
        fits_compressed: bool = False,
    ) -> None:
        if timeout_s is not None and timeout_s <= 0:
            raise ValueError(f"timeout_s must be above 0, got {timeout_s}")
        self._kafka = kafka
        self._timeout_s = kafka.request_timeout_s if timeout_s is None else timeout_s
        self._max_ahead_s = max_ahead_s
        self._max_behind_s = max_behind_s
        self._clock = clock or SystemClock()
        self._fits_compressed = fits_compressed
        self._dead_letters = topic_name(DEAD_LETTERS, kafka.topic_prefix)
        self._connection = ProducerConnection(
            kafka=kafka.model_copy(update={"compression": "gzip"}) if fits_compressed else kafka,
            close_timeout_s=self._timeout_s,
            linger_ms=kafka.linger_ms,
            max_request_size=_ANY_BYTES,
        )

    @property
    def clock_limits_s(self) -> tuple[float, float]:
        """Seconds by which this machine's clock may be fast, and slow, compared with the broker's."""
        return self._max_ahead_s, self._max_behind_s

    async def start(self) -> None:
        """Connects."""
        await self._connection.producer()

    async def stop(self) -> None:
        """Sends pending records, within the time-out, and disconnects for good; may be called repeatedly."""
        await self._connection.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def partitions(self, topic: str) -> int:
        """The number of partitions of a topic.

        Raises:
            KafkaUnavailableError: If no broker answers in time.
        """
        with kafka_faults(f"asking for the partitions of {topic}", self._kafka):
            async with asyncio.timeout(self._timeout_s):
                return len(await (await self._connection.producer()).partitions_for(topic))

    async def send(
        self, topic: str, *, key: bytes, value: bytes | None, headers: Headers = (), partition: int | None = None
    ) -> LogPosition:
        """Produces one record and waits until it is durable.

        Args:
            topic: The topic's name on the broker, with prefix.
            key: A key of :mod:`memory.keys`.
            value: The value; None for a tombstone.
            headers: Names and values, in order.
            partition: The partition. Default: the key's partition.

        Raises:
            RecordTooLargeError: If the value exceeds ``kafka.max_record_bytes``, or the whole record the topic's limit. Dead letters have
                a higher limit.
            KafkaUnavailableError: If Kafka does not acknowledge it in time.
            ClockError: If this machine's clock differs too much from the broker's.
        """
        record = OutgoingRecord(topic, key, value, headers, partition)
        return (await self.send_many([record]))[0]

    async def send_many(self, records: Sequence[OutgoingRecord]) -> list[LogPosition]:
        """Produces records in order and waits until all are durable; raises the first error (see :meth:`send`)."""
        positions: list[LogPosition] = []
        for outcome in await self.send_each(records):
            if isinstance(outcome, VarveError):
                raise outcome
            positions.append(outcome)
        return positions

    async def send_in_batches(self, records: Sequence[OutgoingRecord]) -> list[LogPosition]:
        """Calls :meth:`send_many` in batches, so that each batch has the whole time-out."""
        positions: list[LogPosition] = []
        for start in range(0, len(records), _BATCH):
            positions += await self.send_many(records[start : start + _BATCH])
        return positions

    async def send_each(self, records: Sequence[OutgoingRecord]) -> list[LogPosition | VarveError]:
        """Produces records in order, waits for all, and returns the position or the error of each (see :meth:`send`)."""
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        pending = [await self._enqueue(record, deadline) for record in records]
        return [await self._outcome(each, deadline) for each in pending]

    async def _enqueue(self, record: OutgoingRecord, deadline: float) -> "_Pending | VarveError":
        try:
            self._refuse_too_large(record)
            with kafka_faults(f"producing to {record.topic}", self._kafka):
                async with asyncio.timeout_at(deadline):
                    producer = await self._connection.producer()
                    partitions = len(await producer.partitions_for(record.topic))
                    partition = record.partition_among(partitions)
                    if not 0 <= partition < partitions:
                        raise ValueError(f"{record.topic} has {partitions} partitions, so there is no partition {partition}")
                    future = await producer.send(
                        record.topic, key=record.key, value=record.value, partition=partition, headers=list(record.headers)
                    )
                    sent_at = self._clock.now()
        except VarveError as error:
            return error
        return _Pending(topic=record.topic, producer=producer, future=future, sent_at=sent_at)

    async def _outcome(self, pending: "_Pending | VarveError", deadline: float) -> LogPosition | VarveError:
        if isinstance(pending, VarveError):
            return pending
        try:
            with kafka_faults(f"producing to {pending.topic}", self._kafka):
                left = deadline - asyncio.get_running_loop().time()
                # Not wait_for: cancelling the future would not cancel the record, only lose its result.
                await asyncio.wait({pending.future}, timeout=max(0.0, left))
                if not pending.future.done():
                    pending.future.add_done_callback(retrieve_exception)
                    raise TimeoutError(f"not acknowledged in {self._timeout_s:g} s")
                metadata = pending.future.result()
        except VarveError as error:
            if isinstance(error.__cause__, KafkaError) and not error.__cause__.retriable:
                await self._connection.replace(pending.producer)
            return error
        if metadata.timestamp_type == _LOG_APPEND_TIME:
            ahead_s = pending.sent_at.timestamp() - metadata.timestamp / 1000
            if not -self._max_behind_s <= ahead_s <= self._max_ahead_s:
                difference = f"{abs(ahead_s):.0f} s {'ahead of' if ahead_s > 0 else 'behind'}"
                return ClockError(
                    f"this machine's clock is {difference} the broker's: correct the wrong one; until then, the stages refuse its records"
                )
        return LogPosition(metadata.topic, metadata.partition, metadata.offset)

    def _refuse_too_large(self, record: OutgoingRecord) -> None:
        # A dead letter is an unchanged foreign record: every size that the topic accepted must be producible.
        limit = self._kafka.max_message_bytes if record.topic == self._dead_letters else self._kafka.max_record_bytes
        size = len(record.value or b"")
        if size > limit:
            raise RecordTooLargeError(f"a value of {size} bytes for {record.topic} is over the limit of {limit}")
        largest = largest_record_bytes(record.topic, self._kafka)
        if record.size > largest and not self._fits_compressed:
            raise RecordTooLargeError(f"a record of {record.size} bytes for {record.topic} is larger than {largest}")


@dataclass(frozen=True, slots=True)
class _Pending:
    topic: str
    producer: AIOKafkaProducer
    future: "asyncio.Future[RecordMetadata]"
    sent_at: datetime


def retrieve_exception(future: "asyncio.Future[Any]") -> None:
    """Retrieves the exception of a future that nothing awaits, so that asyncio does not warn about it."""
    if not future.cancelled():
        future.exception()
