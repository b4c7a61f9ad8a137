"""The topics grow from 3 to 8 partitions: the stages continue with the same results as without growth."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from control import read_control
from memory.keys import encode_key
from memory.records import Message
from memory.schema import sample_conversation
from runtime.errors import GroupInUseError, TopicMissingError
from runtime.kafka import KafkaOffsets, OutgoingRecord, Producer, create_topics, read_topic
from runtime.kafka.bulk import BulkWriter
from runtime.kafka.topics import topic_partitions
from runtime.redis.client import open_redis
from runtime.settings import Settings
from stores.build import open_store
from streams.engine.tasks.checkpointer import Checkpointer
from streams.errors import ErasureUnfinishedError, GrowthRefusedError, TransientError, WorkersRunningError
from streams.operations.erasure.erase import erase
from streams.operations.growth.layout import Layout
from streams.operations.growth.run import find_growth, finish, grow, undo
from streams.operations.rebuild import rebuild, snapshot
from streams.stages.catalog import STAGES
from tests.control_log import add_tenant
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.streams.durable_steps import Killed, killed_after
from tests.streams.flow import FIRST_WEEK, TENANT, caught_up, flow_settings, flush, have_workers, serving
from tests.streams.standing_words import places_naming

pytestmark = pytest.mark.integration

OLD = 3
NEW = 8
USERS = ("ada", "bob", "cleo", "dan", "eve", "finn")


@pytest.fixture
async def installations(kafka: str, redis_url: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[tuple[Settings, Settings]]:
    """An installation that will grow, and one that will not."""
    with EdgeOwnerProcess(tmp_path / "edge-a") as first, EdgeOwnerProcess(tmp_path / "edge-b") as second:
        made = []
        for name, edge in (("a", first), ("b", second)):
            base = flow_settings(
                kafka=kafka, topic_prefix=f"{topic_prefix}{name}.", redis_url=redis_url, data=tmp_path / name, socket=edge.socket
            )
            settings = base.model_copy(update={"kafka": base.kafka.model_copy(update={"partitions": OLD})})
            await create_topics(settings)
            await add_tenant(settings, TENANT, schema="companion")
            made.append(settings)
        yield made[0], made[1]


async def _say(settings: Settings, numbers: range) -> None:
    """Sends some messages of each user's session."""
    start = datetime(2024, 5, 1, tzinfo=UTC)
    week = [turn for turn in sample_conversation("companion") if turn["session"] in FIRST_WEEK and "tool_call" not in turn]
    records = []
    for number in numbers:
        for user in USERS:
            turn = week[number % len(week)]
            message = Message.model_validate(
                {"role": turn.get("role", "user"), "text": turn["text"], "tenant": TENANT, "user": user, "session": f"s-{user}"}
                | {"id": f"{user}-m{number}", "event_time": start + timedelta(minutes=number)}
            )
            records.append(OutgoingRecord(topic=settings.topic("messages"), key=encode_key(TENANT, f"s-{user}"), value=message.to_json()))
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many(records)


async def _memories(settings: Settings, *, positions: bool) -> dict[str, dict[str, Any]]:
    found = {}
    async with open_store(settings) as store:
        async for line in snapshot(store, TENANT):
            fields = orjson.loads(line)
            if not positions and fields["kind"] == "event":
                fields.pop("version")
            found[fields["id"]] = fields
    return found


async def _grown(settings: Settings) -> Settings:
    old, new, growth = await find_growth(settings, partitions=NEW, prefix=None)
    async with open_store(settings) as store:
        await grow(settings, old, new, growth, store=store, notice=print)
    return new.settings(settings)


async def _killed_often(settings: Settings) -> set[str]:
    """Kills the command again and again, each time later, then lets it run to its end; returns the steps after which it was killed."""
    killed_at = set()
    for step in (1, 1, 2, 6, 9, 12, 17, 50, 72, 76, "alter_configs", None):
        further = ((AIOKafkaAdminClient, "delete_topics"), (AIOKafkaAdminClient, "alter_configs"), (BulkWriter, "flush"))
        with killed_after(step, *further) as taken:
            try:
                await _grown(settings)
                break
            except Killed as killed:
                killed_at.add(str(killed))
        # From the first changed offsets on, the workers of the old topics wait.
        if taken.count("commit") >= len(STAGES):
            with pytest.raises(TransientError, match=r"topics grow.* did not run to its end"):
                await _initialized(settings, "events")
    print(taken)
    return killed_at


async def _initialized(settings: Settings, name: str) -> None:
    """Takes a partition over, as a worker of the stage does."""
    stage = STAGES[name]
    source = TopicPartition(settings.topic(stage.source.name), 0)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        writer = Checkpointer(source=source, group=stage.group(settings.kafka.topic_prefix), kafka=settings.kafka, offsets=offsets)
        try:
            await writer.initialize()
        finally:
            await writer.stop()


@pytest.mark.timeout(900)
async def test_processing_after_growth_equals_that_without(installations: tuple[Settings, Settings]) -> None:
    for settings in installations:
        await _say(settings, range(11))
        async with serving(settings):
            await caught_up(settings)
        await _say(settings, range(11, 13))  # unread at the growth
    growing, oracle = installations
    before = await _memories(growing, positions=True)
    assert before
    async with serving(growing, ["recalls"]):
        await have_workers(growing, ["recalls"])
        with pytest.raises((GroupInUseError, WorkersRunningError), match="stop"):
            await _grown(growing)
    grown = await _grown(growing)
    assert await _memories(grown, positions=True) == before
    for settings in (grown, oracle):
        await _say(settings, range(13, 24))
        await flush(settings)
        async with serving(settings):
            await caught_up(settings)
    assert await _memories(grown, positions=False) == await _memories(oracle, positions=False)
    after = await _memories(grown, positions=True)
    async with open_store(grown) as store, open_redis(grown.redis) as redis:
        await rebuild(grown, store=store, redis=redis, notice=print)
    async with serving(grown):
        await caught_up(grown)
    assert await _memories(grown, positions=True) == after


@pytest.mark.timeout(900)
async def test_growth_survives_kills_and_can_be_undone(installations: tuple[Settings, Settings]) -> None:
    settings, _ = installations
    await _say(settings, range(8))
    async with serving(settings):
        await caught_up(settings)
    await _say(settings, range(8, 10))
    before = await _memories(settings, positions=True)
    assert {"create_topics", "send_many", "commit", "flush", "alter_configs"} <= await _killed_often(settings)
    grown = Layout(f"{settings.kafka.topic_prefix[:-1]}{NEW}.", NEW).settings(settings)
    await _initialized(grown, "events")
    _, _, growth = await find_growth(grown, partitions=None, prefix=None)
    assert growth is not None
    await undo(grown, growth)
    await _initialized(settings, "events")
    assert f"{grown.kafka.topic_prefix}messages" not in await topic_partitions(settings.kafka)

    grown = await _grown(settings)
    await _say(settings, range(10, 12))  # by a producer that still uses the old topic
    _, _, growth = await find_growth(grown, partitions=None, prefix=None)
    assert growth is not None
    await finish(grown, growth)
    assert settings.topic("messages") not in await topic_partitions(settings.kafka)
    with pytest.raises(GrowthRefusedError, match="no growth has begun"):
        await find_growth(grown, partitions=None, prefix=None)
    with pytest.raises(TopicMissingError, match=f"VARVE_KAFKA__TOPIC_PREFIX={grown.kafka.topic_prefix}"):
        await create_topics(settings)  # by an operator who forgot the new settings
    await flush(grown)
    async with serving(grown):
        await caught_up(grown)
    after = await _memories(grown, positions=True)
    assert before.keys() <= after.keys()
    said = [orjson.loads(record.value or b"{}") async for record in read_topic(grown.topic("windows"), grown.kafka) if record.value]
    assert sorted(each["id"] for window in said for each in window["messages"]) == sorted(
        f"{user}-m{n}" for user in USERS for n in range(12)
    )


@pytest.mark.timeout(900)
async def test_an_erasure_waits_for_the_end_of_growth(installations: tuple[Settings, Settings]) -> None:
    """The earlier topics have the user's records, too. Afterwards it reaches the copies, and no rebuild restores them."""
    settings, _ = installations
    await _say(settings, range(8))
    async with serving(settings):
        await caught_up(settings)
    grown = await _grown(settings)
    async with open_store(grown) as store, open_redis(grown.redis) as redis:
        for each in (settings, grown):
            with pytest.raises(ErasureUnfinishedError, match="`varve topics grow --finish`"):
                await erase(each, TENANT, ["ada"], by="test", store=store, redis=redis)
        assert not (await read_control(grown)).erasures
        _, _, growth = await find_growth(grown, partitions=None, prefix=None)
        assert growth is not None
        await finish(grown, growth)
        async with serving(grown):
            await flush(grown)
            await caught_up(grown)
            (receipt,) = await erase(grown, TENANT, ["ada"], by="test", store=store, redis=redis)
            assert (receipt.finished_at is not None, receipt.remains) == (True, ())
            await caught_up(grown)
        left = await _memories(grown, positions=True)
        assert {each.get("user") for each in left.values()} == {*USERS} - {"ada"}
        await rebuild(grown, store=store, redis=redis)
        async with serving(grown):
            await caught_up(grown)
        assert await _memories(grown, positions=True) == left
        assert await places_naming(grown, TENANT, "ada", store=store, redis=redis) == {}


async def test_unread_contributions_are_refused(installations: tuple[Settings, Settings]) -> None:
    settings, _ = installations
    await _say(settings, range(8))
    await flush(settings)
    async with serving(settings, ["sessions", "extraction", "events"]):
        await caught_up(settings, ["sessions", "extraction", "events"])
    with pytest.raises(GrowthRefusedError, match=r"entities has \d+ unread records"):
        await _grown(settings)
