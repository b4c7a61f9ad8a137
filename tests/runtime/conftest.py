from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[Redis]:
    """The real server, as it is."""
    async with Redis.from_url(redis_url) as client:
        yield client
