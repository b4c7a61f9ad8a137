"""The last uses of keys, on a real Redis: recorded once a minute, and recorded late if Redis is unavailable."""

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from control.key_usage import KeyUsage, owner_of
from runtime.errors import RedisUnavailableError
from runtime.redis.client import GuardedRedis, open_redis
from runtime.settings import RedisSettings
from tests.redis_server import RedisServer

pytestmark = pytest.mark.integration

ACME = owner_of("acme/1")


class Clocks:
    """Both clocks of a process."""

    def __init__(self) -> None:
        self.s = 1_700_000_000.0

    def __call__(self) -> float:
        return self.s


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[GuardedRedis]:
    async with open_redis(RedisSettings(url=redis_url, prefix=f"{uuid.uuid4()}:", timeout_s=60.0)) as redis:
        yield redis


async def test_a_key_is_noted_once_a_minute(redis: GuardedRedis) -> None:
    now = Clocks()
    uses = KeyUsage(redis=redis, monotonic=now, wall=now)
    began = now.s
    for _ in range(50):
        uses.note(ACME, "k1")
        now.s += 1
    uses.note(ACME, "k2")
    uses.note(owner_of("umbrella"), "k1")
    await uses.close()
    assert await uses.of(ACME) == {"k1": datetime.fromtimestamp(began, UTC), "k2": datetime.fromtimestamp(began + 50, UTC)}
    now.s += 11
    uses.note(ACME, "k1")
    await uses.close()
    assert (await uses.of(ACME))["k1"] == datetime.fromtimestamp(now.s, UTC)
    assert await uses.of(owner_of("nobody")) == {}


async def test_uses_missed_by_redis_are_written_later(mortal_redis: RedisServer) -> None:
    now = Clocks()
    mortal_redis.start()
    async with open_redis(RedisSettings(url=f"unix://{mortal_redis.socket}", prefix="v:")) as redis:
        uses = KeyUsage(redis=redis, monotonic=now, wall=now)
        mortal_redis.kill()
        uses.note(ACME, "k1")
        await uses.close()
        with pytest.raises(RedisUnavailableError):
            await uses.of(ACME)
        mortal_redis.start()
        await redis.ping()
        first = now.s
        now.s += 30
        uses.note(ACME, "k2")
        await uses.close()
        assert await uses.of(ACME) == {"k1": datetime.fromtimestamp(first, UTC), "k2": datetime.fromtimestamp(now.s, UTC)}
