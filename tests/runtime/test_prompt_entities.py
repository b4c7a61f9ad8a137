from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis

from memory.records import Memory
from runtime.errors import RedisUnavailableError
from runtime.prompt_entities import PromptEntities
from runtime.redis import connect_redis, drop_keys
from runtime.settings import RedisSettings

pytestmark = pytest.mark.integration

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def entity(content: str) -> Memory:
    return Memory(id="e", tenant="acme", kind="entity", type="person", content=content, event_time=NOON, properties={"n": 1})


async def test_a_window_is_shown_what_it_was_shown_first(client: Redis, topic_prefix: str) -> None:
    shown = PromptEntities(client=client, prefix=topic_prefix, ttl_s=60)
    assert await shown.of("acme", "w", "") is None
    await shown.remember("acme", "w", "", [entity("Ada walks."), entity("Ada é.")])
    await shown.remember("acme", "w", "", [entity("Ada runs.")])
    assert await shown.of("acme", "w", "") == (entity("Ada walks."), entity("Ada é."))
    assert await shown.of("acme", "w", "v2") is None
    assert await shown.of("umbrella", "w", "") is None
    await shown.remember("acme", "empty", "", [])
    assert await shown.of("acme", "empty", "") == (), "nothing is something, too"
    (key,) = [key async for key in client.scan_iter(match=f"{topic_prefix}shown:acme/w/*")]
    assert 0 < await client.ttl(key) <= 60


async def test_it_is_said_when_redis_is_away() -> None:
    async with connect_redis(RedisSettings(url="redis://127.0.0.1:1/0", timeout_s=0.5)) as nowhere:
        with pytest.raises(RedisUnavailableError):
            await PromptEntities(client=nowhere, prefix="p", ttl_s=60).of("acme", "w", "")
        with pytest.raises(RedisUnavailableError):
            await drop_keys(nowhere, prefix="p")


async def test_dropping_keys_takes_the_prefix_literally(client: Redis, topic_prefix: str) -> None:
    mine = [f"{topic_prefix}[a-c]*?\\{number}" for number in range(2500)]
    others = [f"{topic_prefix}a-anything", f"{topic_prefix}b"]
    await client.mset(dict.fromkeys([*mine, *others], "1"))
    assert await drop_keys(client, prefix=f"{topic_prefix}[a-c]*?\\") == len(mine)
    assert await client.exists(*others) == len(others)
    with pytest.raises(ValueError, match="empty prefix"):
        await drop_keys(client, prefix="")
    await client.delete(*others)
