"""Deliveries to real receivers, from a real change feed."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

import pytest
from aiohttp import web
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord

from api.webhooks.fan_out import FanOut
from api.webhooks.signing import SigningSecrets
from api.webhooks.topic import read_deliveries, redrive
from control.erasure_changes import begin_erasure
from control.tenants import TenantDirectory, follow_tenants
from control.webhook_changes import remove_webhook, rotate_webhook_secret
from memory.records import Memory
from runtime.clocks import SystemClock
from runtime.kafka import OutgoingRecord, Producer, create_topics, read_topic
from runtime.kafka.client import client_options
from runtime.metrics import Metrics
from runtime.settings import Settings, SigningSettings, WebhookSettings
from streams.stages.feed import upsert_record
from tests.api.running_service import memory
from tests.api.webhooks.receiver import Received, is_signed, receiving
from tests.api.webhooks.webhook_flow import dead_letters, delivering, delivering_process, hook, memories, publish, unpublish
from tests.control_log import add_tenant, write
from tests.one_broker import one_broker
from tests.streams.harness import until, until_true

pytestmark = pytest.mark.integration

QUICK = WebhookSettings(allow_private=True, first_retry_s=0.05, longest_retry_s=0.1, attempts=3, timeout_s=20, concurrency=2)


@pytest.fixture
async def settings(make_settings: Callable[..., Settings]) -> Settings:
    """Topics on the broker, and the tenants acme and umbrella."""
    signing = SigningSettings(secret="a master secret of the tests only")
    settings = make_settings(kafka=one_broker(partitions=3), signing=signing, webhooks=QUICK)
    await create_topics(settings)
    for tenant in ("acme", "umbrella"):
        await add_tenant(settings, tenant, schema="companion")
    return settings


def test_the_check_of_signatures_accepts_the_published_example() -> None:
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    assert is_signed(secret, headers, b'{"test": 2432232314}')
    assert not is_signed(secret, headers, b'{"test": 2432232315}')


async def test_changes_are_delivered_signed(settings: Settings) -> None:
    [before, *later] = memories("acme", "ann", 4)
    await publish(settings, before)
    async with receiving() as receiver:
        _, secret = await hook(settings, "acme", receiver.url)
        async with delivering(settings):
            await publish(settings, *later)
            await unpublish(settings, later[0])
            await until(lambda: any(each.json["type"] == "memory.deleted" for each in receiver.requests))
            await until(lambda: {each.content for each in later[1:]} <= set(receiver.contents))
    assert {each.content for each in receiver.requests} - {""} <= {each.content for each in later}
    assert {each.content for each in later[1:]} <= set(receiver.contents)
    assert all(is_signed(secret, each.headers, each.body) for each in receiver.requests)
    shown = next(each.json for each in receiver.requests if each.content == later[1].content)
    assert shown["type"] == "memory.upserted"
    assert shown["data"]["memory"]["evidence"] == later[1].message_ids
    assert "tenant" not in shown["data"]["memory"]
    assert {each.headers["Content-Type"] for each in receiver.requests} == {"application/json"}


async def test_a_failed_delivery_is_repeated_with_its_id(settings: Settings) -> None:
    statuses = iter([500, 302, 204])

    async def answer(_: Received) -> web.Response:
        return web.Response(status=next(statuses), headers={"Location": "/elsewhere"})

    async with receiving(answer) as receiver:
        webhook, _ = await hook(settings, "acme", receiver.url)
        async with delivering(settings):
            await publish(settings, *memories("acme", "ann", 1))
            await until(lambda: len(receiver.requests) == 3)
    assert len({each.id for each in receiver.requests}) == 1
    assert await dead_letters(settings, "acme", webhook) == []


async def test_dead_letters_are_sent_again_by_a_redrive(settings: Settings) -> None:
    status = [500]

    async def answer(_: Received) -> web.Response:
        return web.Response(status=status[0])

    async with receiving(answer) as receiver:
        webhook, _ = await hook(settings, "acme", receiver.url)

        async def are_dead() -> bool:
            return len(await dead_letters(settings, "acme", webhook)) == 2

        async def are_gone() -> bool:
            return await dead_letters(settings, "acme", webhook) == []

        async with delivering(settings), Producer(kafka=settings.kafka) as producer:
            await publish(settings, *memories("acme", "ann", 2))
            await until_true(are_dead)
            assert len(receiver.requests) == 2 * QUICK.attempts
            assert {each.problem for each in await dead_letters(settings, "acme", webhook)} == {"status 500"}
            ids = {each.id for each in receiver.requests}
            status[0], receiver.requests = 200, []
            assert await redrive(settings, producer, "acme", webhook) == 2
            await until(lambda: len(receiver.requests) == 2)
            assert {each.id for each in receiver.requests} == ids
            await until_true(are_gone)


async def test_a_slow_receiver_delays_no_other(settings: Settings) -> None:
    async def never(_: Received) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async with receiving(never) as slow, receiving() as fast, receiving() as other:
        await hook(settings, "acme", slow.url)
        await hook(settings, "acme", fast.url)
        await hook(settings, "umbrella", other.url)
        async with delivering(settings):
            await publish(settings, *memories("acme", "ann", 10), *memories("umbrella", "bo", 10))
            await until(lambda: len(fast.requests) == len(other.requests) == 10, deadline_s=15)
            assert len(slow.requests) == QUICK.concurrency


async def test_each_tenant_receives_only_its_own(settings: Settings) -> None:
    async with receiving() as acme, receiving() as umbrella:
        await hook(settings, "acme", acme.url)
        await hook(settings, "umbrella", umbrella.url, with_content=False)
        async with delivering(settings):
            await publish(
                settings, *memories("acme", "ann", 3), *memories("umbrella", "bo", 3), memory("acme", "ann", "v2", generation="v2")
            )
            await until(lambda: len(acme.requests) == len(umbrella.requests) == 3)
    assert set(acme.contents) == {each.content for each in memories("acme", "ann", 3)}
    assert {each.json["data"]["id"] for each in umbrella.requests} == {each.id for each in memories("umbrella", "bo", 3)}
    assert not any(b"bo says" in each.body or b'"user"' in each.body for each in umbrella.requests)


async def test_a_killed_process_delivers_again_with_the_id(settings: Settings) -> None:
    first = asyncio.Event()

    async def answer(_: Received) -> web.Response:
        if not first.is_set():
            first.set()
            await asyncio.Event().wait()
        return web.Response(status=204)

    async with receiving(answer) as receiver:
        await hook(settings, "acme", receiver.url)
        await publish(settings, *memories("acme", "ann", 1))
        async with delivering_process(settings) as process:
            async with asyncio.timeout(60):
                await first.wait()
            process.kill()
        async with delivering(settings):
            await until(lambda: len(receiver.requests) == 2)
    assert receiver.requests[0].id == receiver.requests[1].id
    assert receiver.requests[0].json == receiver.requests[1].json


async def test_data_of_an_erased_user_is_not_sent(settings: Settings) -> None:
    status = [500]

    async def answer(_: Received) -> web.Response:
        return web.Response(status=status[0])

    async with receiving(answer) as receiver:
        webhook, _ = await hook(settings, "acme", receiver.url)

        async def is_dead() -> bool:
            return len(await dead_letters(settings, "acme", webhook)) == 2

        async with delivering(settings), Producer(kafka=settings.kafka) as producer:
            await publish(settings, *memories("acme", "ann", 1), *memories("acme", "bo", 1))
            await until_true(is_dead)
            raw = [record async for record in read_topic(settings.topic("webhook-deliveries"), settings.kafka)]
            assert not any(b"says" in (each.value or b"") or b'"ann"' in (each.value or b"") for each in raw)
            # Only the document: the memories stay in the feed, as until the stages have processed the erasure.
            await write(settings, lambda draft: begin_erasure(draft, "acme", "ann", at=SystemClock().now()))
            status[0], receiver.requests = 204, []
            await redrive(settings, producer, "acme", webhook)
            await until(lambda: len(receiver.requests) == 1)

            async def is_empty() -> bool:
                return await dead_letters(settings, "acme", webhook) == []

            await until_true(is_empty)
    assert receiver.contents == ["bo says number 0"]


async def test_a_newer_change_replaces_a_dead_letter(settings: Settings) -> None:
    status = [410]

    async def answer(_: Received) -> web.Response:
        return web.Response(status=status[0])

    [written] = memories("acme", "ann", 1)
    async with receiving(answer) as receiver:
        webhook, _ = await hook(settings, "acme", receiver.url)

        async def is_dead() -> bool:
            return len(await dead_letters(settings, "acme", webhook)) == 1

        async def is_empty() -> bool:
            return await dead_letters(settings, "acme", webhook) == []

        async with delivering(settings):
            await publish(settings, written)
            await until_true(is_dead)
            assert len(receiver.requests) == 1, "410 is final"
            status[0] = 204
            await unpublish(settings, written)
            await until(lambda: len(receiver.requests) == 2)
            await until_true(is_empty)


async def test_deliveries_have_two_signatures_during_a_rotation(settings: Settings) -> None:
    async with receiving() as receiver:
        webhook, old = await hook(settings, "acme", receiver.url)
        now = SystemClock().now()
        rotated = timedelta(hours=1)
        await write(settings, lambda draft: rotate_webhook_secret(draft, "acme", webhook, "second0", now=now, overlap=rotated))
        new = SigningSecrets.of(settings.signing).shown("acme", webhook, "second0")
        async with delivering(settings):
            await publish(settings, *memories("acme", "ann", 1))
            await until(lambda: len(receiver.requests) == 1)
    [request] = receiver.requests
    assert old != new
    assert is_signed(old, request.headers, request.body)
    assert is_signed(new, request.headers, request.body)


async def test_a_backlog_over_the_limit_becomes_dead_letters(settings: Settings) -> None:
    async def never(_: Received) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    small = settings.model_copy(update={"webhooks": QUICK.model_copy(update={"max_pending": 3})})
    metrics = Metrics()
    async with receiving(never) as receiver:
        webhook, _ = await hook(settings, "acme", receiver.url)

        async def are_dead() -> bool:
            return len(await dead_letters(settings, "acme", webhook)) == 5

        async with delivering(small, metrics):
            await publish(settings, *memories("acme", "ann", 8))
            await until_true(are_dead)
            assert {each.problem for each in await dead_letters(settings, "acme", webhook)} == {"backlog"}
            await until(lambda: metrics.registry.get_sample_value("varve_webhooks_pending") == 3)
            assert metrics.registry.get_sample_value("varve_webhook_deliveries_total", {"outcome": "dead"}) == 5


async def test_a_backlog_is_delivered_without_a_command(settings: Settings) -> None:
    held = asyncio.Event()

    async def answer(_: Received) -> web.Response:
        await held.wait()
        return web.Response(status=204)

    small = settings.model_copy(update={"webhooks": QUICK.model_copy(update={"max_pending": 3})})
    async with receiving(answer) as receiver:
        webhook, _ = await hook(settings, "acme", receiver.url)

        async def are_dead() -> bool:
            return len(await dead_letters(settings, "acme", webhook)) == 17

        async def are_gone() -> bool:
            return await read_deliveries(settings, "acme", webhook) == []

        async with delivering(small):
            await publish(settings, *memories("acme", "ann", 20))
            await until_true(are_dead)
            held.set()
            await until_true(are_gone)
    assert sorted(receiver.contents) == sorted(each.content for each in memories("acme", "ann", 20))


async def test_a_removed_webhook_receives_nothing(settings: Settings) -> None:
    async with receiving() as removed, receiving() as kept:
        webhook, _ = await hook(settings, "acme", removed.url)
        await hook(settings, "acme", kept.url)
        async with delivering(settings):
            await publish(settings, *memories("acme", "ann", 1))
            await until(lambda: len(removed.requests) == len(kept.requests) == 1)
            await write(settings, lambda draft: remove_webhook(draft, "acme", webhook))
            await publish(settings, *memories("acme", "bo", 5))
            await until(lambda: len(kept.requests) == 6)
    assert len(removed.requests) == 1


class ReadingFanOut(FanOut):
    """Counts the records that it has read, and those that it has finished."""

    def __init__(self, *, settings: Settings, tenants: TenantDirectory, producer: Producer) -> None:
        super().__init__(settings=settings, tenants=tenants, producer=producer)
        self.read = 0
        self.finished = 0

    async def _outputs(self, records: Sequence[ConsumerRecord[bytes | None, bytes | None]]) -> list[OutgoingRecord]:
        self.read += len(records)
        return await super()._outputs(records)

    async def _handle_next(self, consumer: AIOKafkaConsumer) -> None:
        await super()._handle_next(consumer)
        self.finished = self.read


def has_finished(fan_out: ReadingFanOut, count: int) -> bool:
    return fan_out.finished >= count


async def publish_earlier(settings: Settings, *memories: Memory) -> None:
    """Writes memories to the change feed, as if it was an hour ago."""
    earlier_ms = int((SystemClock().now() - timedelta(hours=1)).timestamp() * 1000)
    async with AIOKafkaProducer(**client_options(settings.kafka)) as producer:
        for each in memories:
            record = upsert_record(settings.topic("memories"), each)
            await producer.send_and_wait(record.topic, record.value, key=record.key, timestamp_ms=earlier_ms)


async def test_a_first_webhook_reads_no_older_change(settings: Settings) -> None:
    await publish_earlier(settings, *memories("acme", "ann", 9))
    webhook, _ = await hook(settings, "acme", "https://hooks.example.com")
    async with follow_tenants(settings, Metrics()) as tenants, Producer(kafka=settings.kafka) as producer:
        for changes in (memories("acme", "bo", 3), memories("acme", "cy", 2)):  # the second time it begins after its committed offsets
            await publish(settings, *changes)
            fan_out = ReadingFanOut(settings=settings, tenants=tenants, producer=producer)
            running = asyncio.create_task(fan_out.run())
            try:
                await until(partial(has_finished, fan_out, len(changes)))
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
            assert fan_out.read == len(changes)
    assert len(await read_deliveries(settings, "acme", webhook)) == 5
