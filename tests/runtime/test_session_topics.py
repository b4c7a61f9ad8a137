from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from runtime.errors import RedisUnavailableError
from runtime.redis import connect_redis
from runtime.session_topics import KEPT_WINDOWS, SessionTopics
from runtime.settings import RedisSettings

pytestmark = pytest.mark.integration


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[Redis]:
    async with connect_redis(RedisSettings(url=redis_url)) as client:
        yield client


async def test_a_window_sees_the_topics_before_it_and_none_behind(client: Redis, topic_prefix: str) -> None:
    topics = SessionTopics(client=client, prefix=topic_prefix, ttl_s=60)
    assert await topics.before("acme", "s", "", 0) == ()
    for number in range(3):
        await topics.note("acme", "s", "", number, [f"topic {number}", "tea"])
    assert await topics.before("acme", "s", "", 2) == ("topic 0", "tea", "topic 1", "tea")
    await topics.note("acme", "s", "", 1, ["coffee"])
    assert await topics.before("acme", "s", "", 2) == ("topic 0", "tea", "coffee")
    assert await topics.before("acme", "s", "v2", 2) == ()
    assert await topics.before("umbrella", "s", "", 2) == ()


async def test_only_the_latest_windows_are_kept(client: Redis, topic_prefix: str) -> None:
    topics = SessionTopics(client=client, prefix=topic_prefix, ttl_s=60)
    for number in range(40):
        await topics.note("acme", "long", "", number, [str(number)])
    assert await topics.before("acme", "long", "", 40) == tuple(str(number) for number in range(40 - KEPT_WINDOWS, 40))
    (key,) = [key async for key in client.scan_iter(match=f"{topic_prefix}topics:*")]
    assert await client.hlen(key) == 2 * KEPT_WINDOWS
    assert 0 < await client.ttl(key) <= 60


async def test_a_redis_that_is_away_is_said_to_be() -> None:
    async with connect_redis(RedisSettings(url="redis://127.0.0.1:1/0", timeout_s=0.5)) as nowhere:
        topics = SessionTopics(client=nowhere, prefix="p", ttl_s=60)
        with pytest.raises(RedisUnavailableError):
            await topics.before("acme", "s", "", 1)
        with pytest.raises(RedisUnavailableError):
            await topics.note("acme", "s", "", 1, ["tea"])
