"""The reader of the change feed after it has lost its partitions. No broker loses them at the moment that matters."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError

from api.webhooks.fan_out import FanOut
from control.draft import Draft
from control.webhook_changes import add_webhook
from memory.positions import LogPosition
from runtime.errors import KafkaUnavailableError
from runtime.kafka import OutgoingRecord, Producer
from runtime.settings import KafkaSettings, Settings
from streams.stages.feed import upsert_record
from tests.api.running_service import memory
from tests.control_log import known_tenants, now_known

PARTITION = TopicPartition("varve.memories", 0)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


class KeptRecords(Producer):
    """Keeps what it would produce."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(kafka=settings.kafka)
        self.kept: list[OutgoingRecord] = []

    async def send_in_batches(self, records: Sequence[OutgoingRecord]) -> list[LogPosition]:
        self.kept += records
        return []


class LostPartitions:
    """A consumer that reads one change at a time, and has lost its partitions when it commits."""

    def __init__(self, error: Exception, *, reads_for_s: float = 0.0) -> None:
        self.reads = 0
        self._error = error
        self._reads_for_s = reads_for_s

    async def committed(self, partition: TopicPartition) -> int:
        return 0

    def seek(self, partition: TopicPartition, offset: int) -> None:
        assert (partition, offset) == (PARTITION, 0)

    async def getmany(self, **_: Any) -> dict[TopicPartition, list[ConsumerRecord[bytes | None, bytes | None]]]:
        await asyncio.sleep(self._reads_for_s)
        self.reads += 1
        change = upsert_record(PARTITION.topic, memory("acme", "ann", "I moved to Bergen."))
        time_ms = int(datetime.now(UTC).timestamp() * 1000)
        return {PARTITION: [ConsumerRecord(*PARTITION, self.reads, time_ms, 0, change.key, change.value, None, 0, 0, ())]}

    async def commit(self, offsets: dict[TopicPartition, int]) -> None:
        raise self._error


def fan_out(settings: Settings, producer: Producer) -> FanOut:
    tenants = known_tenants({"acme": "companion"})

    def change(draft: Draft) -> None:
        add_webhook(draft, "acme", "wh_0000", "secret", url="https://hooks.example.com", now=LONG_AGO)

    now_known(tenants, change)
    return FanOut(settings=settings, tenants=tenants, producer=producer)


@pytest.mark.parametrize("error", [CommitFailedError(), IllegalStateError()])
async def test_lost_partitions_are_not_read_on(error: Exception) -> None:
    producer, consumer = KeptRecords(settings := Settings()), LostPartitions(error)
    tested = fan_out(settings, producer)
    await tested.on_partitions_assigned([PARTITION])
    for _ in range(3):
        await tested._handle_next(cast(AIOKafkaConsumer, consumer))
    assert (consumer.reads, len(producer.kept)) == (1, 1)
    await tested.on_partitions_assigned([PARTITION])
    await tested._handle_next(cast(AIOKafkaConsumer, consumer))
    assert (consumer.reads, len(producer.kept)) == (2, 2)


async def test_a_process_that_stood_still_makes_no_delivery() -> None:
    settings = Settings(kafka=KafkaSettings(session_timeout_s=0.02))
    producer, consumer = KeptRecords(settings), LostPartitions(CommitFailedError(), reads_for_s=0.05)
    tested = fan_out(settings, producer)
    await tested.on_partitions_assigned([PARTITION])
    with pytest.raises(KafkaUnavailableError, match="stalled"):
        await tested._handle_next(cast(AIOKafkaConsumer, consumer))
    assert producer.kept == []
