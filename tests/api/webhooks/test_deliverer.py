"""Deliveries of one process, on a control log that the test changes, without a broker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from aiokafka import ConsumerRecord, TopicPartition

from api.webhooks.contents import DeliveredMemories
from api.webhooks.deliverer import Deliverer
from api.webhooks.sender import open_sender
from api.webhooks.signing import SigningSecrets
from control.tenants import TenantDirectory
from runtime.clocks import SystemClock
from runtime.kafka import Producer
from runtime.metrics import Metrics
from runtime.settings import Settings, SigningSettings, WebhookSettings
from tests.api.webhooks.deliveries import WEBHOOK, delivery, tenants_with_webhook
from tests.growth import turns_during

PARTITION = TopicPartition("varve.webhook-deliveries", 0)


@asynccontextmanager
async def deliverer(tenants: TenantDirectory) -> AsyncIterator[Deliverer]:
    settings = Settings(webhooks=WebhookSettings(allow_private=True), signing=SigningSettings(secret="a master secret of the tests only"))
    async with open_sender(SigningSecrets.of(settings.signing), settings.webhooks) as sender:
        yield Deliverer(
            settings=settings,
            tenants=tenants,
            producer=Producer(kafka=settings.kafka),
            sender=sender,
            contents=DeliveredMemories(settings=settings, tenants=tenants),
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
        assert [each.id for each in work._lanes["acme", WEBHOOK].end_all()] == ["msg_0"]


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


async def test_nothing_begins_while_partitions_are_revoked() -> None:
    ending, may_end = asyncio.Event(), asyncio.Event()

    async def attempt() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ending.set()
            await may_end.wait()

    class Consumer:
        """Has read a record before the revocation."""

        async def getmany(self, **_: object) -> dict[TopicPartition, list[ConsumerRecord[bytes | None, bytes | None]]]:
            read = delivery(1)
            value, key = read.to_json(), b"acme/wh_0000#msg_1"
            return {PARTITION: [ConsumerRecord(PARTITION.topic, 0, 1, 0, 0, key, value, None, len(key), len(value), ())]}

    async with deliverer(tenants_with_webhook("http://127.0.0.1:9/hook")) as tested:
        await tested.on_partitions_assigned([])
        tested._admit(delivery())
        tested._spawn(attempt())
        await asyncio.sleep(0)
        revoking = asyncio.create_task(tested.on_partitions_revoked([PARTITION]))
        await ending.wait()
        await tested._step(Consumer())
        assert len(tested._tasks) == 1, "another process may be delivering it"
        may_end.set()
        await revoking
        assert (tested._tasks, tested._lanes, tested._outcomes._waiting) == (set(), {}, [])
        await tested.on_partitions_assigned([])
        await tested._step(Consumer())
        assert len(tested._tasks) == 1
        await tested.on_partitions_revoked([])
