"""Reads the change feed, and makes a delivery for each webhook that wants a change.

The deliveries are durable before the group's offset is committed. After a crash some are made again, with the same ids. A group without
offsets begins at the first change that a webhook may want: the feed may have many millions of older ones.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, ConsumerRecord, TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError

from api.webhooks.membership import may_be_lost, session_options
from api.webhooks.payload import delivery_id
from api.webhooks.topic import delivery_record
from control.documents import Tenant
from control.errors import ControlLogBehindError, UnknownTenantError
from control.tenants import TenantDirectory
from memory.errors import KeyFormatError, RecordError
from memory.keys import decode_key
from memory.records import MemoryChange, WebhookDelivery
from memory.topics import MEMORIES, WEBHOOK_DELIVERIES
from runtime.errors import KafkaUnavailableError
from runtime.kafka import OutgoingRecord, Producer, client_options
from runtime.kafka.client import connect, disconnect, kafka_faults
from runtime.settings import Settings

T = TypeVar("T")

_POLL_MS: Final = 500
_MOST_RECORDS: Final = 500
_PAUSE_S: Final = 0.1
_CLOCKS_DIFFER: Final = timedelta(minutes=1)


class FanOut(ConsumerRebalanceListener):  # type: ignore[misc]
    """Makes deliveries.

    Args:
        settings: Kafka's settings.
        tenants: The known webhooks.
        producer: Writes deliveries.
    """

    def __init__(self, *, settings: Settings, tenants: TenantDirectory, producer: Producer) -> None:
        self._kafka = settings.kafka
        self._feed = settings.topic(MEMORIES.name)
        self._deliveries = settings.topic(WEBHOOK_DELIVERIES.name)
        self._group = f"{settings.kafka.topic_prefix}webhooks"
        self._tenants = tenants
        self._producer = producer
        self._unplaced: set[TopicPartition] | None = None
        """Assigned partitions that have no position yet; None while Kafka assigns them."""

    async def run(self) -> None:
        """Reads until it is cancelled.

        Raises:
            KafkaUnavailableError: If Kafka fails; call it again.
        """
        with kafka_faults("reading the change feed for webhooks", self._kafka):
            consumer = AIOKafkaConsumer(
                **client_options(self._kafka),
                group_id=self._group,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                isolation_level="read_committed",
                **session_options(self._kafka),
            )
            consumer.subscribe([self._feed], listener=self)
            try:
                await connect(consumer)
                while True:
                    await self._handle_next(consumer)
            finally:
                self._unplaced = None
                await disconnect(consumer)

    async def on_partitions_revoked(self, revoked: Sequence[TopicPartition]) -> None:
        """Stops reading: Kafka assigns all partitions again."""
        self._unplaced = None

    async def on_partitions_assigned(self, assigned: Sequence[TopicPartition]) -> None:
        """Begins to read partitions."""
        self._unplaced = set(assigned)

    async def _handle_next(self, consumer: AIOKafkaConsumer) -> None:
        if self._unplaced is None:
            await asyncio.sleep(_PAUSE_S)
            return
        for partition in tuple(self._unplaced):
            await self._place(consumer, partition)
        assignment, began = self._unplaced, time.monotonic()
        batches = await consumer.getmany(timeout_ms=_POLL_MS, max_records=_MOST_RECORDS)
        if not batches or self._unplaced != set():
            return  # after an assignment, the records are read again
        records = [record for batch in batches.values() for record in batch]
        await self._know_webhooks(max(record.timestamp for record in records))
        deliveries = await self._outputs(records)
        if may_be_lost(began, self._kafka):
            raise KafkaUnavailableError("this process stalled, and other processes may have made its deliveries to webhooks")
        await self._producer.send_in_batches(deliveries)
        try:
            await consumer.commit({partition: batch[-1].offset + 1 for partition, batch in batches.items()})
        except (CommitFailedError, IllegalStateError):
            # Another process makes the deliveries again. This one reads nothing more before Kafka has assigned the partitions again.
            if self._unplaced is assignment:
                self._unplaced = None

    async def _place(self, consumer: AIOKafkaConsumer, partition: TopicPartition) -> None:
        """Gives a partition its position: the committed one, otherwise that of the first change after the oldest webhook was added."""
        assignment = self._unplaced
        position = await consumer.committed(partition)
        if position is None:
            end = (await consumer.end_offsets([partition]))[partition]
            since_ms = int((await _once_known(self._first_added) - _CLOCKS_DIFFER).timestamp() * 1000)
            found = (await consumer.offsets_for_times({partition: since_ms}))[partition]
            position = end if found is None else found.offset
        if assignment is not None and assignment is self._unplaced:
            consumer.seek(partition, position)
            assignment.discard(partition)

    def _first_added(self) -> datetime:
        added = [webhook.created for tenant in self._tenants.all() for webhook in tenant.webhooks]
        return min(added, default=datetime.now(UTC))

    async def _know_webhooks(self, newest_ms: int) -> None:
        """Waits until the copy of the control log is newer than a change, so that it has every webhook that was added before."""
        needed = min(newest_ms / 1000, time.time())
        while time.time() - self._tenants.age_s < needed:  # noqa: ASYNC110 - the control log has no event
            await asyncio.sleep(_PAUSE_S)

    async def _outputs(self, records: Sequence[ConsumerRecord[bytes | None, bytes | None]]) -> list[OutgoingRecord]:
        return await _once_known(lambda: [output for record in records for output in self._outputs_of(record)])

    def _outputs_of(self, record: ConsumerRecord[bytes | None, bytes | None]) -> list[OutgoingRecord]:
        try:
            tenant_id, memory_id = decode_key(record.key or b"")
            tenant = self._tenants.get(tenant_id)
        except (KeyFormatError, ValueError, UnknownTenantError):
            return []
        if not tenant.webhooks:
            return []
        return [delivery_record(self._deliveries, each) for each in _deliveries(record, tenant, memory_id)]


async def _once_known(read: Callable[[], T]) -> T:
    """The result of a lookup, as soon as the copy of the control log is new enough for it."""
    while True:
        try:
            return read()
        except ControlLogBehindError:
            await asyncio.sleep(_PAUSE_S)


def _deliveries(record: ConsumerRecord[bytes | None, bytes | None], tenant: Tenant, memory_id: str) -> list[WebhookDelivery]:
    """The deliveries of a change: of the live generation's memories, and of every deletion."""
    kind: str | None = None
    if record.value is not None:
        try:
            change = MemoryChange.from_json(record.value)
        except RecordError:
            return []
        if change.memory is None or change.memory.tenant != tenant.id or change.memory.generation != tenant.generation:
            return []
        kind = change.memory.kind
    changed_at = datetime.fromtimestamp(record.timestamp / 1000, UTC)
    return [
        WebhookDelivery(
            id=delivery_id(tenant.id, webhook.id, record.partition, record.offset),
            tenant=tenant.id,
            webhook=webhook.id,
            event="memory.deleted" if kind is None else "memory.upserted",
            memory_id=memory_id,
            partition=record.partition,
            offset=record.offset,
            changed_at=changed_at,
        )
        for webhook in tenant.webhooks
        if webhook.created <= changed_at and (kind is None or webhook.wants(kind))
    ]
