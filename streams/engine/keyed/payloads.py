"""Payloads of records in flight: a budget for memory, beyond which only a record's offset is kept, and a loader that reads them again.

A flood of records must not fill the memory.
"""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from aiokafka import AIOKafkaConsumer, ConsumerRecord
from aiokafka.errors import KafkaError, OffsetOutOfRangeError

from memory.positions import LogPosition
from runtime.kafka import TopicPartition, UngroupedConsumer
from runtime.settings import KafkaSettings
from streams.engine.keyed.pending_record import PendingRecord
from streams.engine.records import ConsumedRecord
from streams.errors import PoisonRecordError, TransientError

R = TypeVar("R")

_FETCH_BYTES: Final = 65_536
"""Each record is fetched alone: its successors in the log are rarely the next to run. A larger record still arrives whole."""
_READ_ON: Final = 100
"""Up to this distance, the loader reads forward and does not seek: parked records are read in log order."""


class PayloadBudget(Generic[R]):
    """Counts the payloads in memory, and evicts those beyond the budget.

    Args:
        size: Number of records whose payload may be in memory.
        evict: Called with each record whose payload may leave memory: it is loaded again before the record runs.
    """

    def __init__(self, size: int, evict: Callable[[R], None]) -> None:
        self._size = size
        self._evict = evict
        self._loaded = 0

    @property
    def loaded(self) -> int:
        """Number of records whose payload is in memory."""
        return self._loaded

    def admit(self, entry: PendingRecord[R]) -> None:
        """Adds a delivered record; keeps its payload if the budget allows."""
        if self._loaded < self._size:
            self.load(entry)
        else:
            self._evict(entry.record)

    def load(self, entry: PendingRecord[R]) -> None:
        """Counts the payload of a record that starts, even beyond the budget."""
        self._loaded += not entry.is_loaded
        entry.is_loaded = True

    def release(self, entry: PendingRecord[R]) -> None:
        """Removes a record that is no longer tracked."""
        self._loaded -= entry.is_loaded
        entry.is_loaded = False

    def evict(self, entry: PendingRecord[R]) -> None:
        """Evicts a payload that is no longer needed."""
        self.release(entry)
        self._evict(entry.record)

    def evict_surplus(self, entry: PendingRecord[R]) -> None:
        """Evicts the payload of a record that waits again, if the budget is exceeded."""
        if self._loaded > self._size:
            self.evict(entry)


class PayloadLoader:
    """Connects on the first read. Use it as an async context manager.

    Args:
        kafka: The broker's settings.
    """

    def __init__(self, *, kafka: KafkaSettings) -> None:
        self._consumer = UngroupedConsumer(kafka=kafka, fetch_bytes=_FETCH_BYTES)
        self._reached: tuple[TopicPartition, int] | None = None
        """Position after the record that was read last."""

    async def __aenter__(self) -> "PayloadLoader":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._consumer.stop()

    async def read(self, record: ConsumedRecord) -> ConsumedRecord:
        """The record with its value.

        Args:
            record: The record without its value.

        Raises:
            TransientError: The broker does not return it now.
            PoisonRecordError: ``expired``: the topic's retention removed it while it waited.
        """
        try:
            async with self._consumer.reading() as consumer:
                found = await self._fetch(consumer, TopicPartition(record.topic, record.partition), record.offset)
        except OffsetOutOfRangeError as error:
            raise self._expired(record.position) from error
        except (KafkaError, TimeoutError) as error:
            raise TransientError(f"{record.position} cannot be read again: {error!r}", dependency="kafka") from error
        if found.offset != record.offset:
            raise self._expired(record.position)
        return ConsumedRecord.of(found)

    async def _fetch(
        self, consumer: AIOKafkaConsumer, partition: TopicPartition, offset: int
    ) -> ConsumerRecord[bytes | None, bytes | None]:
        reached = self._reached
        self._reached = None
        if reached is None or reached[0] != partition or not 0 <= offset - reached[1] <= _READ_ON:
            consumer.assign([partition])
            consumer.seek(partition, offset)
        found = await consumer.getone(partition)
        while found.offset < offset:
            found = await consumer.getone(partition)
        self._reached = (partition, found.offset + 1)
        return found

    @staticmethod
    def _expired(position: LogPosition) -> PoisonRecordError:
        return PoisonRecordError("expired", f"{position} was removed by the topic's retention while it waited")
