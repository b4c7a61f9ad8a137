"""One of several processes runs a job once in its interval, and another one after a failure."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio import Redis

from memory.errors import VarveError
from runtime.errors import RedisUnavailableError
from runtime.periodic_job import PeriodicJob
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

pytestmark = pytest.mark.integration


def jobs(redis: GuardedRedis, ran: list[str], *, failing: bool = False) -> list[PeriodicJob]:
    def work(name: str):  # type: ignore[no-untyped-def]
        async def run() -> None:
            ran.append(name)
            if failing:
                raise VarveError("Kafka is unavailable")

        return run

    return [PeriodicJob("count", interval_s=3600.0, redis=redis, work=work(name)) for name in ("a", "b")]


async def test_one_process_runs_in_an_interval(redis: GuardedRedis) -> None:
    ran: list[str] = []
    done = await asyncio.gather(*(each.run_if_due() for each in jobs(redis, ran)))
    assert sorted(done) == [False, True]
    assert [await each.run_if_due() for each in jobs(redis, ran)] == [False, False]
    assert len(ran) == 1


async def test_the_next_interval_has_another_run(redis: GuardedRedis, client: Redis) -> None:
    ran: list[str] = []
    first, second = jobs(redis, ran)
    await first.run_if_due()
    key = redis.key(KeyFamily.JOBS, "count")
    assert 3500_000 < await client.pttl(key) <= 3600_000
    await client.delete(key)
    assert await second.run_if_due()
    assert ran == ["a", "b"]


async def test_a_failed_run_is_repeated_after_the_lease(redis: GuardedRedis, client: Redis) -> None:
    ran: list[str] = []
    assert not await jobs(redis, ran, failing=True)[0].run_if_due()
    assert 0 < await client.pttl(redis.key(KeyFamily.JOBS, "count")) <= 120_000


async def test_a_late_renewal_does_not_shorten_the_interval(redis: GuardedRedis, client: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    run, renewing, released = redis.run, asyncio.Event(), asyncio.Event()

    async def delayed(doing: str, command: Callable[[Redis], Awaitable[object]]) -> object:
        async def late(connected: Redis) -> object:
            renewing.set()
            await released.wait()
            return await command(connected)

        return await run(doing, late if doing.startswith("renewing") else command)

    monkeypatch.setattr("runtime.periodic_job.LEASE_S", 0.03)
    monkeypatch.setattr(redis, "run", delayed)
    assert await PeriodicJob("count", interval_s=3600.0, redis=redis, work=renewing.wait).run_if_due()
    released.set()
    await redis.drain()
    assert await client.pttl(redis.key(KeyFamily.JOBS, "count")) > 3500_000


async def test_jobs_have_separate_intervals(redis: GuardedRedis) -> None:
    ran: list[str] = []

    async def run() -> None:
        ran.append("other")

    await jobs(redis, ran)[0].run_if_due()
    assert await PeriodicJob("other", interval_s=60.0, redis=redis, work=run).run_if_due()
    assert ran == ["a", "other"]


async def test_no_job_runs_without_redis(redis: GuardedRedis, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_: object) -> None:
        raise RedisUnavailableError("Redis is unavailable")

    monkeypatch.setattr(redis, "run", away)
    ran: list[str] = []
    with pytest.raises(RedisUnavailableError):
        await jobs(redis, ran)[0].run_if_due()
    assert ran == []
