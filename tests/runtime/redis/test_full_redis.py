"""A Redis that is full or evicts keys: no stale value is taken for a current one, and no hard budget is exceeded."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from models.errors import BudgetExceededError
from models.llm.budget import Amount
from models.llm.daily_budget import BudgetLedger
from runtime.errors import RedisFullError, RedisUnavailableError
from runtime.metrics import Metrics
from runtime.redis.client import GuardedRedis, open_redis
from runtime.redis.keys import KeyFamily
from runtime.redis.server import RedisWatch
from runtime.redis.session_tail import SessionTail, SessionView, TailUpdate, TailWindow
from runtime.settings import BudgetSettings, RedisSettings
from tests.redis_server import RedisServer

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
CALL = Amount(tokens=60)


@pytest.fixture
async def redis(mortal_redis: RedisServer) -> AsyncIterator[GuardedRedis]:
    mortal_redis.start()
    async with open_redis(RedisSettings(url=f"unix://{mortal_redis.socket}", prefix="full:", timeout_s=5.0)) as redis:
        yield redis


@pytest.fixture
async def admin(mortal_redis: RedisServer, redis: GuardedRedis) -> AsyncIterator[Redis]:
    async with Redis.from_url(f"unix://{mortal_redis.socket}") as client:
        yield client


async def fill(admin: Redis) -> None:
    await admin.config_set("maxmemory-policy", "noeviction")
    await admin.config_set("maxmemory", 1)


async def write_tail(redis: GuardedRedis, session: str, offset: int, text: bytes = b'{"text":"hi"}') -> None:
    view = SessionView(open=TailWindow(0, (text,)))
    await SessionTail(redis=redis).write([TailUpdate("acme", session, view, 0, offset)])


def ledger(redis: GuardedRedis, **budget: float) -> BudgetLedger:
    return BudgetLedger(budget_of=lambda _: BudgetSettings(**budget), redis=redis)


async def test_a_refused_write_is_reported_as_full(redis: GuardedRedis, admin: Redis) -> None:
    await fill(admin)
    with capture_logs() as logs, pytest.raises(RedisFullError, match="maxmemory"):
        await write_tail(redis, "s", 1)
    assert redis.is_full
    assert [entry["event"] for entry in logs] == ["redis_refuses_writes"]


async def test_a_stale_tail_is_not_read(redis: GuardedRedis, admin: Redis) -> None:
    await write_tail(redis, "s", 1)
    await fill(admin)
    with pytest.raises(RedisFullError):
        await write_tail(redis, "s", 2)
    with pytest.raises(RedisFullError):
        await SessionTail(redis=redis).read("acme", "s")
    await admin.config_set("maxmemory", 0)
    await redis.check_writes()
    assert not redis.is_full
    assert (await SessionTail(redis=redis).read("acme", "s")).messages == (b'{"text":"hi"}',)


async def test_a_ping_succeeds_where_writes_fail(redis: GuardedRedis, admin: Redis) -> None:
    await fill(admin)
    await redis.ping()
    with pytest.raises(RedisFullError):
        await redis.check_writes()


async def test_the_watch_reports_evictions_and_the_policy(redis: GuardedRedis, admin: Redis) -> None:
    metrics = Metrics()
    watch = RedisWatch(redis=redis, metrics=metrics)
    await watch.read_once()
    assert not redis.has_evicted
    await admin.config_set("maxmemory-policy", "allkeys-lru")
    # The first script of a server allocates its interpreter, which no eviction frees.
    await write_tail(redis, "s", 1)
    await admin.config_set("maxmemory", (await admin.info("memory"))["used_memory"] + 200_000)
    for number in range(200):
        await write_tail(redis, f"other{number}", 1, b'{"text":"%s"}' % (b"x" * 4000))
    with capture_logs() as logs:
        await watch.read_once()
    assert {entry["event"] for entry in logs} == {"redis_evicts_keys", "redis_policy_deletes_keys"}
    assert redis.has_evicted
    # Redis chooses among a sample of keys, so no tail is evicted for certain; a missing one may have been.
    with pytest.raises(RedisUnavailableError, match="noeviction"):
        await SessionTail(redis=redis).read("acme", "missing")
    page = metrics.render().decode()
    assert "varve_redis_evicted_keys 0.0" not in page
    assert "varve_redis_refuses_writes 0.0" in page
    await fill(admin)
    await watch.read_once()
    assert "varve_redis_refuses_writes 1.0" in metrics.render().decode()


async def test_a_watch_reads_the_result_of_a_probe(redis: GuardedRedis, admin: Redis) -> None:
    metrics = Metrics()
    watch = RedisWatch(redis=redis, metrics=metrics, tries_writes=False)
    probe = redis.key(KeyFamily.WRITE_PROBE)
    await watch.read_once()
    assert await admin.get(probe) is None, "it writes nothing"
    await fill(admin)
    with pytest.raises(RedisFullError):
        await redis.check_writes()
    await watch.read_once()
    assert "varve_redis_refuses_writes 1.0" in metrics.render().decode()
    await admin.config_set("maxmemory", 0)
    await watch.read_once()
    assert "varve_redis_refuses_writes 1.0" in metrics.render().decode()
    await redis.check_writes()
    await watch.read_once()
    assert "varve_redis_refuses_writes 0.0" in metrics.render().decode()


async def test_a_hard_budget_waits_for_a_full_redis(redis: GuardedRedis, admin: Redis) -> None:
    hard, free = ledger(redis, hard_tokens=100), ledger(redis)
    await hard.reserve("acme", CALL, deferrable=False, now=NOON)
    await fill(admin)
    with pytest.raises(BudgetExceededError, match="cannot be checked") as refusal:
        await hard.reserve("acme", Amount(tokens=1), deferrable=False, now=NOON)
    assert refusal.value.retry_after_s <= 60
    await free.reserve("acme", CALL, deferrable=False, now=NOON)
    await admin.config_set("maxmemory", 0)
    await hard.reserve("acme", Amount(tokens=1), deferrable=False, now=NOON)


@pytest.mark.parametrize("settles", [True, False])
async def test_an_evicted_total_does_not_renew_the_budget(redis: GuardedRedis, admin: Redis, settles: bool) -> None:
    hard = ledger(redis, hard_tokens=100)
    reservation = await hard.reserve("acme", CALL, deferrable=False, now=NOON)
    await admin.flushdb()
    if settles:
        await hard.settle(reservation, CALL)
    with pytest.raises(BudgetExceededError, match="hard budget"):
        await hard.reserve("acme", CALL, deferrable=False, now=NOON)
    assert (await hard.total("acme", NOON)).tokens == CALL.tokens
