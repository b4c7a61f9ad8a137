"""Delivers to webhooks. Each webhook has a lane in one process; a slow or broken receiver only delays its own lane.

The processes of the service share the partitions of the topic of deliveries. A new owner of a partition reads it from its beginning: it
holds the waiting and the dead deliveries. A process that dies loses nothing, and its running deliveries are repeated with the same ids.
A process that stalls for longer than Kafka's session time-out loses its partitions: it begins no delivery until it has them again.
"""

import asyncio
import random
import time
from collections.abc import Coroutine, Sequence
from datetime import datetime
from typing import Any, Final

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, ConsumerRecord, TopicPartition

from api.webhooks.attempts import DELIVERED, DROPPED, SUPERSEDED, DeliveryAttempts
from api.webhooks.contents import DeliveredMemories
from api.webhooks.lane import Failure, Lane
from api.webhooks.membership import may_be_lost, session_options
from api.webhooks.outcomes import OutcomeWriter
from api.webhooks.sender import WebhookSender
from api.webhooks.topic import read_delivery
from control.errors import ControlLogBehindError
from control.tenants import TenantDirectory
from memory.errors import KeyFormatError
from memory.keys import decode_key
from memory.records import WebhookDelivery
from memory.topics import WEBHOOK_DELIVERIES
from runtime.background import end_tasks, run_in_background
from runtime.clocks import Clock
from runtime.errors import KafkaUnavailableError
from runtime.kafka import Producer, client_options
from runtime.kafka.client import connect, disconnect, kafka_faults
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.resilience import Backoff
from runtime.settings import Settings

_log = logger(__name__)

_POLL_MS: Final = 100
_MOST_RECORDS: Final = 1000
_SWEEP_S: Final = 60.0

_LaneKey = tuple[str, str]


def _lane_key(key: bytes) -> _LaneKey:
    """Tenant and webhook of a record's key; two empty names if it has another form."""
    try:
        tenant, webhook = decode_key(key)
    except (KeyFormatError, ValueError):
        return "", ""
    return tenant, webhook


class Deliverer(ConsumerRebalanceListener):  # type: ignore[misc]
    """Delivers what the topic of deliveries holds.

    Args:
        settings: Kafka's settings, and the limits of webhooks.
        tenants: The known webhooks.
        producer: Writes the outcomes.
        sender: Sends.
        contents: Reads the memories.
        metrics: Receives counts.
        clock: The wall clock.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        tenants: TenantDirectory,
        producer: Producer,
        sender: WebhookSender,
        contents: DeliveredMemories,
        metrics: Metrics,
        clock: Clock,
    ) -> None:
        self._settings = settings.webhooks
        self._kafka = settings.kafka
        self._topic = settings.topic(WEBHOOK_DELIVERIES.name)
        self._group = f"{settings.kafka.topic_prefix}webhook-deliveries"
        self._outcomes = OutcomeWriter(producer, self._topic)
        self._attempts = DeliveryAttempts(tenants=tenants, contents=contents, sender=sender, max_bytes=settings.webhooks.max_payload_bytes)
        self._metrics = metrics
        self._clock = clock
        self._backoff = Backoff(
            initial_interval_s=settings.webhooks.first_retry_s,
            maximum_interval_s=max(settings.webhooks.first_retry_s, settings.webhooks.longest_retry_s),
        )
        self._is_assigned = False
        """Whether Kafka has given partitions to this process and not taken them back."""
        self._restoring: dict[TopicPartition, dict[bytes, WebhookDelivery]] = {}
        """The newest record of each delivery, of partitions that are not read to their ends yet."""
        self._ends: dict[TopicPartition, int] = {}
        self._lanes: dict[_LaneKey, Lane] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._swept_at = time.monotonic()
        self._stepped_at = time.monotonic()

    async def run(self) -> None:
        """Delivers until it is cancelled.

        Raises:
            KafkaUnavailableError: If Kafka fails; call it again.
        """
        with kafka_faults("reading the deliveries to webhooks", self._kafka):
            # The group only shares the partitions: its offsets are never committed.
            consumer = AIOKafkaConsumer(
                **client_options(self._kafka),
                group_id=self._group,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                **session_options(self._kafka),
            )
            consumer.subscribe([self._topic], listener=self)
            try:
                await connect(consumer)
                self._stepped_at = time.monotonic()
                while True:
                    if self._has_stalled:
                        raise KafkaUnavailableError("this process stalled, and other processes may have its deliveries to webhooks")
                    self._stepped_at = time.monotonic()
                    await self._step(consumer)
            finally:
                try:
                    await self._drop_all()
                finally:
                    await disconnect(consumer)

    async def on_partitions_revoked(self, revoked: Sequence[TopicPartition]) -> None:
        """Stops everything: Kafka assigns all partitions again."""
        await self._drop_all()

    async def on_partitions_assigned(self, assigned: Sequence[TopicPartition]) -> None:
        """Begins to read partitions."""
        self._restoring = {partition: {} for partition in assigned}
        self._ends = {}
        self._is_assigned = True

    @property
    def _has_stalled(self) -> bool:
        """Whether this process did nothing for so long that Kafka may have given its partitions to others."""
        return may_be_lost(self._stepped_at, self._kafka)

    async def _step(self, consumer: AIOKafkaConsumer) -> None:
        unknown = [partition for partition in self._restoring if partition not in self._ends]
        if unknown:
            ends = await consumer.end_offsets(unknown)
            self._ends.update(ends)  # of the current assignment: it may have changed in the meantime
        batches = await consumer.getmany(timeout_ms=_POLL_MS, max_records=_MOST_RECORDS)
        if not self._is_assigned:
            return  # the next owner reads them, and so does this process if it gets the partitions again
        for partition, records in batches.items():
            for record in records:
                self._take(partition, record)
        for partition in list(self._restoring):
            if partition in self._ends and await consumer.position(partition) >= self._ends[partition]:
                await self._open(partition)
        self._start_due()
        if time.monotonic() - self._swept_at > _SWEEP_S:
            self._sweep()
        self._metrics.webhooks_pending.set(sum(each.pending for each in self._lanes.values()))
        self._metrics.webhooks_dead.set(sum(each.dead for each in self._lanes.values()))

    def _take(self, partition: TopicPartition, record: ConsumerRecord[bytes | None, bytes | None]) -> None:
        key = record.key or b""
        restoring = self._restoring.get(partition)
        delivery = None
        if record.value is not None:
            delivery = read_delivery(record.value, place=f"{record.topic}/{record.partition}/{record.offset}")
            if delivery is None:
                return
        if restoring is not None:
            restoring.pop(key, None)
            if delivery is not None:
                restoring[key] = delivery
        elif delivery is not None:
            self._admit(delivery)
        else:
            lane, delivery_id = self._lanes.get(_lane_key(key)), key.rpartition(b"#")[2].decode(errors="replace")
            if lane is not None:
                lane.forget(delivery_id)

    async def _open(self, partition: TopicPartition) -> None:
        """Takes over the deliveries of a partition that is read to its end.

        There may be millions of dead letters, so the process does other work in between.
        """
        restoring = self._restoring[partition]
        for number, delivery in enumerate(sorted(restoring.values(), key=lambda each: each.offset), start=1):
            self._admit(delivery)
            if number % _MOST_RECORDS == 0:
                await asyncio.sleep(0)
                if self._restoring.get(partition) is not restoring:
                    return  # Kafka has assigned the partitions again
                self._stepped_at = time.monotonic()
        del self._restoring[partition]

    def _admit(self, delivery: WebhookDelivery) -> None:
        key = delivery.tenant, delivery.webhook
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(
                backoff=self._backoff,
                attempts=self._settings.attempts,
                concurrency=self._settings.concurrency,
                max_pending=self._settings.max_pending,
            )
        taken = lane.take(delivery, now=self._clock.now())
        self._count("dead", len(taken.backlog))
        self._count(SUPERSEDED, len(taken.superseded))
        self._outcomes.end(taken.superseded)
        self._outcomes.keep((*taken.backlog, *taken.overwritten))

    def _start_due(self) -> None:
        now = self._clock.now()
        for key, lane in self._lanes.items():
            if lane.is_due(now):
                self._start(key, lane, now)

    def _start(self, key: _LaneKey, lane: Lane, now: datetime) -> None:
        try:
            webhook = self._attempts.webhook(*key)
        except ControlLogBehindError:
            return
        # The next sweep ends the deliveries of a removed webhook.
        may_begin = webhook is not None and self._is_assigned
        while may_begin and not self._has_stalled and (delivery := lane.start_next(now)) is not None:
            self._spawn(self._deliver(lane, delivery))

    def _sweep(self) -> None:
        """Ends the deliveries of removed webhooks and dead letters that are too old, and lets deliveries of a backlog wait again."""
        self._swept_at = time.monotonic()
        now = self._clock.now()
        for key, lane in self._lanes.items():
            try:
                ended = lane.end_expired(now) if self._attempts.webhook(*key) is not None else lane.end_all()
            except ControlLogBehindError:
                return
            self._count(DROPPED, len(ended))
            self._outcomes.end(ended)
            self._outcomes.keep(lane.revive())
        self._lanes = {key: lane for key, lane in self._lanes.items() if lane}

    async def _deliver(self, lane: Lane, delivery: WebhookDelivery) -> None:
        started = time.monotonic()
        outcome = await self._attempts.attempt(delivery)
        if not self._is_assigned or (isinstance(outcome, Failure) and self._has_stalled):
            return  # the new owner may have delivered it meanwhile
        if isinstance(outcome, Failure):
            now = self._clock.now()
            record = lane.on_failed(delivery.id, outcome, now=now, uniform=random.uniform)
            self._log_failure(delivery, outcome, record, now)
            if record is None:
                self._outcomes.end([delivery])
            else:
                self._outcomes.keep([record])
        else:
            lane.on_delivered(delivery.id)
            self._outcomes.end([delivery])
            self._outcomes.keep(lane.revive())
            self._count(outcome, 1)
            if outcome == DELIVERED:
                self._metrics.webhook_delivery_seconds.observe(time.monotonic() - started)
        self._start((delivery.tenant, delivery.webhook), lane, self._clock.now())

    def _log_failure(self, delivery: WebhookDelivery, failure: Failure, record: WebhookDelivery | None, now: datetime) -> None:
        outcome = SUPERSEDED if record is None else "dead" if record.state == "dead" else "failed"
        self._count(outcome, 1)
        _log.warning(
            "webhook_failed",
            tenant=delivery.tenant,
            webhook=delivery.webhook,
            delivery=delivery.id,
            outcome=outcome,
            again_in_s=None if record is None or record.due_at is None else round((record.due_at - now).total_seconds(), 1),
            error=failure.problem,
        )

    def _count(self, outcome: str, count: int) -> None:
        if count:
            self._metrics.webhook_deliveries.labels(outcome).inc(count)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = run_in_background("webhook-delivery", work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drop_all(self) -> None:
        # Kafka calls this in a separate task: the loop continues meanwhile, and must find nothing to begin.
        self._is_assigned = False
        self._lanes.clear()
        self._restoring.clear()
        self._ends.clear()
        await end_tasks(self._tasks)
        await self._outcomes.drop()
