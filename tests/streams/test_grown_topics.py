"""The topics grow from 3 to 8 partitions: the flow goes on as one that never grew."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from memory.keys import encode_key
from memory.records import Message
from memory.schema import sample_conversation
from runtime.kafka import OutgoingRecord, Producer, create_topics
from runtime.redis import open_redis
from runtime.settings import Settings
from stores.build import open_store
from streams.operations.growth.run import find_growth, grow
from streams.operations.rebuild import rebuild, snapshot
from tests.control_log import add_tenant
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.streams.flow import FIRST_WEEK, TENANT, caught_up, flow_settings, flush, serving

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


async def _grown(settings: Settings, *, notice: Callable[[str], None] = print) -> Settings:
    old, new, growth = await find_growth(settings, partitions=NEW, prefix=None if settings.kafka.topic_prefix[-1] == "." else "x")
    async with open_store(settings) as store:
        await grow(settings, old, new, growth, store=store, notice=notice)
    return new.settings(settings)


async def test_flow_goes_on_as_if_it_never_grew(installations: tuple[Settings, Settings]) -> None:
    for settings in installations:
        await _say(settings, range(11))
        async with serving(settings):
            await caught_up(settings)
        await _say(settings, range(11, 13))  # unread at the growth
    growing, oracle = installations
    before = await _memories(growing, positions=True)
    assert before
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
