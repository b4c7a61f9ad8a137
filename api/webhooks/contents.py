"""Reads the memory of a delivery from the change feed. Deliveries hold no content, so that an erasure has nothing to remove from them."""

from datetime import datetime
from typing import Final

from aiokafka.errors import KafkaError, OffsetOutOfRangeError

from control.tenants import TenantDirectory
from memory.errors import RecordError
from memory.records import Memory, MemoryChange, WebhookDelivery
from memory.topics import MEMORIES
from runtime.errors import KafkaUnavailableError
from runtime.kafka import TopicPartition, UngroupedConsumer
from runtime.settings import Settings

_FETCH_BYTES: Final = 65_536


class DeliveredMemories:
    """Reads memories by the positions of their changes. Use one per process; it connects at its first use.

    Args:
        settings: Kafka's settings.
        tenants: Knows the erased users.
    """

    def __init__(self, *, settings: Settings, tenants: TenantDirectory) -> None:
        self._topic = settings.topic(MEMORIES.name)
        self._consumer = UngroupedConsumer(kafka=settings.kafka, fetch_bytes=_FETCH_BYTES)
        self._tenants = tenants

    async def stop(self) -> None:
        """Disconnects; may be called repeatedly."""
        await self._consumer.stop()

    async def read(self, delivery: WebhookDelivery) -> Memory | None:
        """The memory as a change wrote it.

        Args:
            delivery: The delivery of the change.

        Returns:
            None if a later change has replaced it in the feed, or its user was erased: then nothing may be sent.

        Raises:
            KafkaUnavailableError: If no broker answers.
            ControlLogBehindError: If it is not certain whether its user was erased.
        """
        partition = TopicPartition(self._topic, delivery.partition)
        try:
            async with self._consumer.reading() as consumer:
                consumer.assign([partition])
                consumer.seek(partition, delivery.offset)
                record = await consumer.getone(partition)
        except OffsetOutOfRangeError:
            return None
        except (KafkaError, TimeoutError) as error:
            raise KafkaUnavailableError(f"reading a memory for a webhook failed: {error!r}") from error
        if record.offset != delivery.offset or record.value is None:
            return None
        try:
            memory = MemoryChange.from_json(record.value).memory
        except RecordError:
            return None
        return None if memory is None or self._is_erased(delivery, memory) else memory

    def _is_erased(self, delivery: WebhookDelivery, memory: Memory) -> bool:
        epoch = "" if memory.user is None else self._tenants.erasure_epoch(memory.tenant, memory.user)
        return bool(epoch) and datetime.fromisoformat(epoch) >= delivery.changed_at
