from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from runtime.redis import connect_redis
from runtime.settings import RedisSettings


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[Redis]:
    async with connect_redis(RedisSettings(url=redis_url)) as client:
        yield client
