"""Deliveries of one process, on a control log that the test changes, without a broker."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial

import pytest
from aiokafka import ConsumerRecord, TopicPartition

from api.webhooks.contents import DeliveredMemories
from api.webhooks.deliverer import Deliverer
from api.webhooks.sender import open_sender
from api.webhooks.signing import SigningSecrets
from control.draft import Draft
from control.tenants import TenantDirectory
from control.webhook_changes import add_webhook, remove_webhook
from memory.positions import LogPosition
from memory.records import Memory, WebhookDelivery
from runtime.clocks import SystemClock
from runtime.errors import KafkaUnavailableError
from runtime.kafka import OutgoingRecord, Producer
from runtime.metrics import Metrics
from runtime.settings import Settings, SigningSettings, WebhookSettings
from tests.api.running_service import memory
from tests.api.webhooks.receiver import receiving
from tests.control_log import known_tenants, now_known
from tests.growth import turns_during
from tests.streams.harness import until

WEBHOOK = "wh_0000"
PARTITION = TopicPartition("varve.webhook-deliveries", 0)


class ReadMemories(DeliveredMemories):
    """Reads one memory, and calls a function while it reads."""

    def __init__(self, settings: Settings, tenants: TenantDirectory, meanwhile: Callable[[], object]) -> None:
        super().__init__(settings=settings, tenants=tenants)
        self._meanwhile = meanwhile

    async def read(self, delivery: WebhookDelivery) -> Memory | None:
        self._meanwhile()
        return memory(delivery.tenant, "ann", "I moved to Bergen.")


class ProducerAfterAnOutage(Producer):
    """Its first call fails."""

    def __init__(self) -> None:
        super().__init__(kafka=Settings().kafka)
        self.calls = 0
        self.written: list[OutgoingRecord] = []

    async def send_in_batches(self, records: Sequence[OutgoingRecord]) -> list[LogPosition]:
        self.calls += 1
        if self.calls == 1:
            raise KafkaUnavailableError("no broker answers")
        self.written += records
        return []


def tenants_with_webhook(url: str) -> TenantDirectory:
    tenants = known_tenants({"acme": "companion"})

    def change(draft: Draft) -> None:
        add_webhook(draft, "acme", WEBHOOK, "secret", url=url, now=datetime.now(UTC))

    now_known(tenants, change)
    return tenants


def delivery(number: int = 0, **fields: object) -> WebhookDelivery:
    return WebhookDelivery.model_validate(
        {
            "id": f"msg_{number}",
            "tenant": "acme",
            "webhook": WEBHOOK,
            "event": "memory.upserted",
            "memory_id": f"m{number}",
            "partition": 0,
            "offset": number,
            "changed_at": datetime.now(UTC),
            **fields,
        }
    )


@asynccontextmanager
async def deliverer(
    tenants: TenantDirectory, meanwhile: Callable[[], object] = lambda: None, producer: Producer | None = None
) -> AsyncIterator[Deliverer]:
    settings = Settings(webhooks=WebhookSettings(allow_private=True), signing=SigningSettings(secret="a master secret of the tests only"))
    async with open_sender(SigningSecrets.of(settings.signing), settings.webhooks) as sender:
        yield Deliverer(
            settings=settings,
            tenants=tenants,
            producer=producer or Producer(kafka=settings.kafka),
            sender=sender,
            contents=ReadMemories(settings, tenants, meanwhile),
            metrics=Metrics(),
            clock=SystemClock(),
        )


async def test_a_deletion_under_a_binary_key_ends_nothing() -> None:
    async with deliverer(tenants_with_webhook("http://127.0.0.1:9/hook")) as work:
        work._admit(delivery())
        record: ConsumerRecord[bytes | None, bytes | None] = ConsumerRecord(
            PARTITION.topic, 0, 1, 0, 0, b"acme/wh_0000#\xff", None, None, 13, -1, ()
        )
        work._take(PARTITION, record)
        assert [each.id for each in work._lanes["acme", WEBHOOK].all()] == ["msg_0"]


@pytest.mark.parametrize(("removed", "outcome", "requests"), [(False, "delivered", 1), (True, "dropped", 0)])
async def test_a_webhook_removed_meanwhile_receives_nothing(removed: bool, outcome: str, requests: int) -> None:
    async with receiving() as receiver:
        tenants = tenants_with_webhook(receiver.url)
        removal = partial(remove_webhook, tenant_id="acme", webhook_id=WEBHOOK)
        async with deliverer(tenants, lambda: removed and now_known(tenants, removal)) as tested:
            assert await tested._attempt(delivery()) == outcome
    assert len(receiver.requests) == requests


async def test_taking_many_deliveries_over_blocks_nothing() -> None:
    async with deliverer(tenants_with_webhook("https://hooks.example.com")) as tested:
        await tested.on_partitions_assigned([PARTITION])
        dead = datetime.now(UTC)
        tested._restoring[PARTITION] = {str(number).encode(): delivery(number, state="dead", dead_at=dead) for number in range(5000)}
        _, turns = await turns_during(tested._open(PARTITION))
        assert PARTITION not in tested._restoring
        assert tested._lanes["acme", WEBHOOK].dead == 5000
    assert turns >= 4


async def test_partitions_assigned_meanwhile_are_read_again() -> None:
    async with deliverer(tenants_with_webhook("https://hooks.example.com")) as tested:
        await tested.on_partitions_assigned([PARTITION])
        tested._restoring[PARTITION] = {str(number).encode(): delivery(number, state="dead") for number in range(5000)}
        taking_over = asyncio.create_task(tested._open(PARTITION))
        await asyncio.sleep(0)
        await tested.on_partitions_revoked([PARTITION])
        await tested.on_partitions_assigned([PARTITION])
        await taking_over
        assert tested._restoring == {PARTITION: {}}
        assert tested._lanes == {}


async def test_outcomes_keep_their_order_through_an_outage() -> None:
    producer = ProducerAfterAnOutage()
    records = [OutgoingRecord("t", b"key", value) for value in (b"failed", b"dead", None)]
    async with deliverer(tenants_with_webhook("https://hooks.example.com"), producer=producer) as tested:
        tested._write(records[:1])
        await until(lambda: producer.calls == 1)
        tested._write(records[1:2])
        tested._write(records[2:])
        await until(lambda: len(producer.written) == 3)
    assert producer.written == records
