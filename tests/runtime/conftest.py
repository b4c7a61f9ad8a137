from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from runtime.redis import GuardedRedis, open_redis
from runtime.settings import RedisSettings


@pytest.fixture
async def redis(redis_url: str, topic_prefix: str) -> AsyncIterator[GuardedRedis]:
    """The real server, under a prefix of this test's own."""
    async with open_redis(RedisSettings(url=redis_url, prefix=topic_prefix, timeout_s=60.0)) as redis:
        yield redis


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[Redis]:
    """The real server, as it is."""
    async with Redis.from_url(redis_url) as client:
        yield client
