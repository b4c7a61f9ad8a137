from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from runtime.errors import RedisUnavailableError
from runtime.recall_echoes import RecallEchoes
from runtime.redis import connect_redis
from runtime.settings import RedisSettings

pytestmark = pytest.mark.integration


async def test_what_was_said_before_the_first_recall_is_no_echo(client: Redis, topic_prefix: str) -> None:
    recalled = RecallEchoes(client=client, prefix=topic_prefix)
    await recalled.add("acme", "ann", ["a", "b"])
    behind, before = datetime.now(UTC), datetime.now(UTC) - timedelta(minutes=1)

    assert await recalled.of("acme", "ann", until=behind) == {"a", "b"}
    assert await recalled.of("acme", "ann", until=before) == frozenset()
    assert await recalled.of("acme", "ben", until=behind) == frozenset()
    assert await recalled.of("umbrella", "ann", until=behind) == frozenset()


async def test_a_content_that_is_recalled_again_keeps_the_time_of_its_first_recall(client: Redis, topic_prefix: str) -> None:
    recalled = RecallEchoes(client=client, prefix=topic_prefix)
    await recalled.add("acme", "ann", ["a"])
    (key,) = [key async for key in client.scan_iter(match=f"{topic_prefix}recalled:*")]
    first = await client.zscore(key, "a")
    await recalled.add("acme", "ann", ["a", "b"])

    assert await client.zscore(key, "a") == first


async def test_only_the_newest_are_kept(client: Redis, topic_prefix: str) -> None:
    recalled = RecallEchoes(client=client, prefix=topic_prefix, keep=2)
    for content in "abc":
        await recalled.add("acme", "ann", [content])

    assert await recalled.of("acme", "ann", until=datetime.now(UTC)) == {"b", "c"}


async def test_a_redis_that_is_away_is_said_to_be() -> None:
    async with connect_redis(RedisSettings(url="redis://127.0.0.1:1/0", timeout_s=0.5)) as nowhere:
        recalled = RecallEchoes(client=nowhere, prefix="p")
        with pytest.raises(RedisUnavailableError):
            await recalled.add("acme", "ann", ["a"])
        with pytest.raises(RedisUnavailableError):
            await recalled.of("acme", "ann", until=datetime.now(UTC))
