"""Webhooks with several processes of the service, and through long outages of the receiver and of Kafka."""

import asyncio
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import web

from api.webhooks.topic import read_deliveries, redrive
from runtime.kafka import KafkaOffsets, Producer, create_topics
from runtime.kafka.groups import ConsumerGroups
from runtime.settings import Settings, SigningSettings, WebhookSettings
from tests.api.webhooks.receiver import Received, Receiver, receiving
from tests.api.webhooks.webhook_flow import dead_letters, delivering, delivering_process, hook, memories, publish, unpublish
from tests.chaos.restarted_process import RestartedProcess
from tests.control_log import add_tenant
from tests.one_broker import one_broker
from tests.streams.harness import until, until_true
from varve.embedded import jars
from varve.embedded.kafka import EmbeddedKafka

pytestmark = [pytest.mark.integration, pytest.mark.timeout(240)]

QUICK = WebhookSettings(allow_private=True, first_retry_s=0.05, longest_retry_s=0.2, attempts=3, timeout_s=60, concurrency=2)
WEBHOOKS = 6
BURST, KILLS = 120, 2


@pytest.fixture
async def settings(make_settings: Callable[..., Settings]) -> Settings:
    """Topics on the broker, and the tenant acme."""
    signing = SigningSettings(secret="a master secret of the tests only")
    settings = make_settings(kafka=one_broker(partitions=6), signing=signing, webhooks=QUICK)
    await create_topics(settings)
    await add_tenant(settings, "acme", schema="companion")
    return settings


@pytest.fixture
async def receivers() -> AsyncIterator[list[Receiver]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(receiving()) for _ in range(WEBHOOKS)]


async def share(settings: Settings, members: int) -> None:
    """Waits until so many processes share the change feed and the deliveries."""
    groups = ConsumerGroups(kafka=settings.kafka)
    names = [settings.kafka.topic_prefix + each for each in ("webhooks", "webhook-deliveries")]

    async def are_there() -> bool:
        return set((await groups.members(names)).values()) == {members}

    await until_true(are_there)


async def has_read_the_feed(settings: Settings) -> bool:
    """Whether the group that makes deliveries has committed the position of all changes."""
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        lag = await offsets.lag(f"{settings.kafka.topic_prefix}webhooks", [settings.topic("memories")])
    return not sum(lag.values())


def deliveries_of(receivers: list[Receiver]) -> Counter[str]:
    """How often each delivery arrived."""
    return Counter(each.id for receiver in receivers for each in receiver.requests)


async def is_finished(settings: Settings, webhooks: list[str]) -> bool:
    """Whether no delivery waits, and none is dead."""
    return not any([await read_deliveries(settings, "acme", each) for each in webhooks])


async def test_processes_share_deliveries_without_doubles(settings: Settings, receivers: list[Receiver]) -> None:
    webhooks = [(await hook(settings, "acme", each.url))[0] for each in receivers]
    async with delivering_process(settings) as one, delivering_process(settings), delivering_process(settings):
        await share(settings, 3)
        before, after = memories("acme", "ann", 20), memories("acme", "bo", 20)
        await publish(settings, *before)
        await until(lambda: len(deliveries_of(receivers)) == 20 * WEBHOOKS)
        await until_true(lambda: is_finished(settings, webhooks))
        assert set(deliveries_of(receivers).values()) == {1}

        one.kill()
        await publish(settings, *after)
        await until(lambda: len(deliveries_of(receivers)) == 40 * WEBHOOKS)
        await share(settings, 2)
        await until_true(lambda: is_finished(settings, webhooks))
    for receiver in receivers:
        assert set(receiver.contents) == {each.content for each in (*before, *after)}


async def test_kills_amid_a_burst_lose_no_delivery(settings: Settings, receivers: list[Receiver]) -> None:
    webhooks = [(await hook(settings, "acme", each.url))[0] for each in receivers]
    said = memories("acme", "ann", BURST)
    positions: dict[str, tuple[int, int]] = {}
    for kill in range(KILLS + 1):
        begin, end = kill * BURST // (KILLS + 1), (kill + 1) * BURST // (KILLS + 1)
        async with delivering_process(settings) as process:
            await publish(settings, *said[begin:end])
            if kill < KILLS:
                # It dies while it makes deliveries of the newest changes, and sends others.
                received = begin * WEBHOOKS + random.randrange((end - begin) * WEBHOOKS)
                await until(lambda received=received: len(deliveries_of(receivers)) >= received)  # type: ignore[misc]
                process.kill()
            else:
                await until(lambda: len(deliveries_of(receivers)) == BURST * WEBHOOKS)
                await until_true(lambda: is_finished(settings, webhooks))
    for receiver in receivers:
        assert set(receiver.contents) == {each.content for each in said}
        for each in receiver.requests:
            place = each.json["data"]["position"]
            assert positions.setdefault(each.id, (place["partition"], place["offset"])) == (place["partition"], place["offset"])
    assert len(positions) == BURST * WEBHOOKS, "one id for each webhook and change"


async def test_a_frozen_process_begins_nothing_afterwards(settings: Settings) -> None:
    held, release = asyncio.Event(), asyncio.Event()

    async def answer(_: Received) -> web.Response:
        if held.is_set():
            return web.Response(status=204)
        held.set()
        await release.wait()
        return web.Response(status=500)

    one = settings.model_copy(update={"webhooks": QUICK.model_copy(update={"concurrency": 1})})
    async with receiving(answer) as receiver, delivering_process(one) as frozen:
        webhook, _ = await hook(settings, "acme", receiver.url)
        await share(settings, 1)
        await publish(settings, *memories("acme", "ann", 12))
        async with asyncio.timeout(60):
            await held.wait()
        # Deliveries that are made before the position is committed are made again by another process.
        await until_true(lambda: has_read_the_feed(settings))
        frozen.send_signal(signal.SIGSTOP)
        try:
            async with delivering(settings):
                await until(lambda: len({each.id for each in receiver.requests}) == 12, deadline_s=90)
                await until_true(lambda: is_finished(settings, [webhook]))
                frozen.send_signal(signal.SIGCONT)
                release.set()
                await share(settings, 2)
                await publish(settings, *memories("acme", "bo", 3))
                await until(lambda: len({each.id for each in receiver.requests}) == 15)
                await until_true(lambda: is_finished(settings, [webhook]))
        finally:
            frozen.send_signal(signal.SIGCONT)
    counts = Counter(each.id for each in receiver.requests)
    first = receiver.requests[0].id
    assert counts.pop(first) == 2, "by the frozen process, and by the one that took over"
    assert set(counts.values()) == {1}


async def is_dead_or_finished(settings: Settings, webhook: str) -> bool:
    return all(each.state == "dead" for each in await read_deliveries(settings, "acme", webhook))


async def test_a_long_outage_of_a_receiver_outlives_the_process(settings: Settings) -> None:
    changed, deleted, *others = memories("acme", "ann", 8)
    status = [503]

    async def answer(_: Received) -> web.Response:
        return web.Response(status=status[0])

    async with receiving(answer) as receiver:
        webhook, _ = await hook(settings, "acme", receiver.url)
        async with delivering_process(settings) as process:
            await publish(settings, changed, deleted, *others)
            await until(lambda: len({each.id for each in receiver.requests}) == 8)
            # Deliveries that are made again begin with no attempt counted, also those that are dead letters by then.
            await until_true(lambda: has_read_the_feed(settings))
            process.kill()
        async with delivering(settings), Producer(kafka=settings.kafka) as producer:

            async def are_dead() -> bool:
                return len(await dead_letters(settings, "acme", webhook)) == 8

            await until_true(are_dead)
            # An attempt that the killed process began is repeated; all others are counted once.
            assert max(Counter(each.id for each in receiver.requests).values()) <= QUICK.attempts + 1
            await unpublish(settings, deleted)
            await until(lambda: any(each.json["type"] == "memory.deleted" for each in receiver.requests))
            status[0] = 204
            receiver.requests.clear()
            await until_true(lambda: is_dead_or_finished(settings, webhook))
            await redrive(settings, producer, "acme", webhook)
            await until_true(lambda: is_finished(settings, [webhook]))
    assert sorted(each.content for each in receiver.requests if each.content) == sorted(each.content for each in (changed, *others))
    assert [each.json["data"]["id"] for each in receiver.requests if each.json["type"] == "memory.deleted"] == [deleted.id]


async def test_an_outage_of_kafka_loses_no_delivery(make_settings: Callable[..., Settings], tmp_path: Path) -> None:
    cache = Settings().cache_path
    jars.fetch(cache)
    embedded = EmbeddedKafka(data=tmp_path / "kafka", cache=cache)
    broker = RestartedProcess("kafka", embedded.prepare)
    await broker.start()
    try:
        shared = make_settings(
            kafka=one_broker(partitions=2), signing=SigningSettings(secret="a master secret of the tests only"), webhooks=QUICK
        )
        settings = shared.model_copy(update={"kafka": shared.kafka.model_copy(update={"bootstrap": embedded.bootstrap})})
        await create_topics(settings)
        await add_tenant(settings, "acme", schema="companion")
        statuses = {"before": 503}

        async def answer(received: Received) -> web.Response:
            return web.Response(status=statuses.get(received.content.partition(" ")[0], 204))

        async with receiving(answer) as receiver:
            webhook, _ = await hook(settings, "acme", receiver.url)
            patient = settings.model_copy(update={"webhooks": QUICK.model_copy(update={"attempts": 100})})
            async with delivering(patient), delivering_process(patient):
                await publish(settings, *memories("acme", "before", 5))
                await until(lambda: len({each.id for each in receiver.requests}) == 5)
                async with broker.held_down():
                    statuses.clear()
                await publish(settings, *memories("acme", "after", 5))
                await until(lambda: len({each.id for each in receiver.requests}) == 10, deadline_s=120)
                await until_true(lambda: is_finished(settings, [webhook]), deadline_s=120)
        assert {each.content for each in receiver.requests} == {
            each.content for each in (*memories("acme", "before", 5), *memories("acme", "after", 5))
        }
    finally:
        await broker.stop()
