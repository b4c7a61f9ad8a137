"""State that all workers share: a real Redis, several LLMs as workers, and a Redis that fails and recovers."""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from loadtest.profiles import Plan
from models.errors import BudgetExceededError, TransientModelError
from models.llm.budget import Amount
from models.llm.daily_budget import BudgetLedger
from models.llm.limiter import Limiter
from models.llm.limits import Limits
from runtime.clocks import ManualClock
from runtime.redis.client import GuardedRedis
from runtime.settings import BudgetSettings
from tests.models.llm.conftest import BuildLLM, BuildRequest, Serve, UsageList
from tests.redis_server import RedisServer
from tests.waiting import until_async

pytestmark = pytest.mark.integration

BuildLimiter = Callable[..., Limiter]

HOLDER = """
import asyncio, sys
from redis.asyncio import Redis
from models.llm.limiter import Limiter
from models.llm.limits import Limits
from runtime.redis.client import GuardedRedis

async def hold(url, prefix: str):
    redis = Redis.from_url(url)
    limiter = Limiter(endpoint="e", limits=Limits(concurrency=1), redis=GuardedRedis(client=redis, prefix=prefix),
                      queue_timeout_s=60, lease_s=3)
    async with limiter.lease(1):
        print("held", flush=True)
        await asyncio.Event().wait()

asyncio.run(hold(*sys.argv[1:]))
"""


@pytest.fixture
def limiter_of(redis: Redis, prefix: str) -> BuildLimiter:
    """Limiters of different workers, at one endpoint."""

    def build(*, lease_s: float = 15.0, queue_timeout_s: float = 30.0, **limits: int) -> Limiter:
        return Limiter(
            endpoint="e",
            limits=Limits(**{"concurrency": 100, **limits}),
            redis=GuardedRedis(client=redis, prefix=prefix),
            queue_timeout_s=queue_timeout_s,
            lease_s=lease_s,
        )

    return build


async def take(limiter: Limiter, tokens: int = 1) -> None:
    async with limiter.lease(tokens):
        pass


class TestLimits:
    async def test_workers_together_keep_the_concurrency(self, limiter_of: BuildLimiter) -> None:
        running = peak = 0

        async def call(limiter: Limiter) -> None:
            nonlocal running, peak
            async with limiter.lease(1):
                running += 1
                peak = max(peak, running)
                await asyncio.sleep(0.01)
                running -= 1

        workers = [limiter_of(concurrency=3) for _ in range(3)]
        await asyncio.gather(*(call(worker) for worker in workers for _ in range(10)))
        assert peak == 3

    async def test_workers_together_keep_the_requests_a_minute(self, limiter_of: BuildLimiter) -> None:
        one, two = limiter_of(requests_per_minute=3), limiter_of(requests_per_minute=3)
        for limiter in (one, two, one):
            await take(limiter)
        with pytest.raises(TransientModelError, match="no free lease") as caught:
            await take(two)
        assert 50 < (caught.value.retry_after_s or 0) <= 61

    async def test_workers_together_keep_the_tokens_a_minute(self, limiter_of: BuildLimiter) -> None:
        one, two = limiter_of(tokens_per_minute=1000), limiter_of(tokens_per_minute=1000)
        async with one.lease(900) as lease:
            with pytest.raises(TransientModelError):
                await take(two, 500)
            lease.used = 100
        async with two.lease(500) as lease:
            lease.used = 900
        with pytest.raises(TransientModelError):
            await take(one, 1)

    async def test_a_call_above_the_limit_runs_exclusively(self, limiter_of: BuildLimiter) -> None:
        await take(limiter_of(tokens_per_minute=1000), 5000)

    async def test_a_killed_workers_lease_expires(self, limiter_of: BuildLimiter, redis: Redis, redis_url: str, prefix: str) -> None:
        async def expires_ms() -> float:
            key = f"{prefix}llm:limits:{{e}}:leases"
            (lease,) = [name async for name, _ in redis.zscan_iter(key)]
            return float(await redis.zscore(key, lease) or 0)

        root = Path(__file__).parents[3]
        holder = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", HOLDER, redis_url, prefix),
            stdout=asyncio.subprocess.PIPE,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
        )
        assert holder.stdout is not None
        try:
            assert await holder.stdout.readline() == b"held\n"
            taken = await expires_ms()
            await until_async(expires_ms, lambda found: found > taken)
            with pytest.raises(TransientModelError):
                await take(limiter_of(concurrency=1, queue_timeout_s=0.2))
        finally:
            holder.kill()
            await holder.communicate()
        await take(limiter_of(concurrency=1, queue_timeout_s=60))

    async def test_a_pause_applies_to_all_workers(self, limiter_of: BuildLimiter) -> None:
        one, two = limiter_of(), limiter_of()
        begun = time.monotonic()
        await one.pause(0.3)
        await take(two)
        assert time.monotonic() - begun >= 0.3

    async def test_a_cancelled_caller_leaves_no_lease(self, limiter_of: BuildLimiter, redis: Redis, prefix: str) -> None:
        # Redis-py loses a cancellation that meets the end of a send (Python 3.11): so at every step of the way.
        for steps in range(30):
            limiter = limiter_of(concurrency=1, lease_s=1000, queue_timeout_s=1000)
            async with asyncio.timeout(60):
                holder = asyncio.create_task(take(limiter))
                waiting = [asyncio.create_task(take(limiter)) for _ in range(2)]
                for _ in range(steps):
                    await asyncio.sleep(0)
                for task in (holder, *waiting):
                    task.cancel()
                await asyncio.gather(holder, *waiting, return_exceptions=True)
                await limiter.close()
            assert await redis.zcard(f"{prefix}llm:limits:{{e}}:leases") == 0


class TestAnswerCacheAndBudget:
    async def test_a_redelivery_to_another_worker_hits_the_cache(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, redis: Redis, prefix: str, usages: UsageList
    ) -> None:
        endpoint = await serve(answer="once")
        first = await llm_of(endpoint, redis=redis, prefix=prefix).complete(ask())
        again = await llm_of(endpoint, redis=redis, prefix=prefix).complete(ask())
        assert (again.text, again.usage, again.from_cache) == ("once", first.usage, True)
        assert len(endpoint.requests) == len(usages.records) == 1

    async def test_a_cached_answer_has_a_ttl(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, redis: Redis, prefix: str) -> None:
        endpoint = await serve()
        await llm_of(endpoint, redis=redis, prefix=prefix, cache_ttl_s=100).complete(ask())
        (key,) = [key async for key in redis.scan_iter(f"{prefix}llm:answers:acme:*")]
        assert 90_000 < await redis.pttl(key) <= 100_000

    async def test_workers_together_keep_the_hard_budget(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, redis: Redis, prefix: str, usages: UsageList
    ) -> None:
        endpoint = await serve(Plan(first_token_s=0.02), answer="word " * 100)
        workers = [llm_of(endpoint, redis=redis, prefix=prefix, budget=BudgetSettings(hard_tokens=1500)) for _ in range(3)]
        calls = [worker.complete(ask(f"{index}/{number}")) for index, worker in enumerate(workers) for number in range(10)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert any(isinstance(each, BudgetExceededError) for each in outcomes)
        assert 0 < sum(each.prompt_tokens + each.completion_tokens for each in usages.records) <= 1500

    async def test_the_ledger_holds_the_actual_usage(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, redis: Redis, prefix: str, usages: UsageList, clock: ManualClock
    ) -> None:
        endpoint = await serve(Plan(), Plan(status=500), Plan(), answer="word " * 10)
        llm = llm_of(endpoint, redis=redis, prefix=prefix)
        for number in range(3):
            with contextlib.suppress(TransientModelError):
                await llm.complete(ask(str(number)))
        ledger = BudgetLedger(budget_of=lambda _: BudgetSettings(), redis=GuardedRedis(client=redis, prefix=prefix))
        assert (await ledger.total("acme", clock.now())).tokens == sum(
            record.prompt_tokens + record.completion_tokens for record in usages.records
        )

    async def test_a_lost_reservation_is_settled_as_used(self, redis: Redis, prefix: str, clock: ManualClock) -> None:
        ledger = BudgetLedger(budget_of=lambda _: BudgetSettings(), redis=GuardedRedis(client=redis, prefix=prefix))
        reservation = await ledger.reserve("acme", Amount(1000, 2.0), deferrable=False, now=clock.now())
        await redis.delete(*[key async for key in redis.scan_iter(f"{prefix}llm:budget:*")])
        await ledger.settle(reservation, Amount(250, 0.5))
        assert await ledger.total("acme", clock.now()) == Amount(250, 0.5)


@pytest.fixture
async def mortal_client(mortal_redis: RedisServer) -> AsyncIterator[Redis]:
    mortal_redis.start()
    async with Redis(unix_socket_path=str(mortal_redis.socket), retry=Retry(NoBackoff(), 0)) as client:
        yield client


class TestRedisAway:
    async def test_calls_continue_with_a_local_cache(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, mortal_redis: RedisServer, mortal_client: Redis, usages: UsageList
    ) -> None:
        endpoint = await serve(Plan(first_token_s=0.02))
        llm = llm_of(endpoint, redis=mortal_client, concurrency=2)
        await llm.complete(ask("before"))
        mortal_redis.kill()
        answers = await asyncio.gather(*(llm.complete(ask(str(number))) for number in range(6)))
        assert {each.text for each in answers} == {"yes"}
        assert endpoint.peak_concurrency <= 2
        assert (await llm.complete(ask("3"))).from_cache
        assert len(usages.records) == 7

    async def test_the_local_budget_is_sent_to_redis_later(
        self, mortal_redis: RedisServer, mortal_client: Redis, clock: ManualClock
    ) -> None:
        redis = GuardedRedis(client=mortal_client, prefix="x:", retry_s=0.05)
        ledger = BudgetLedger(budget_of=lambda _: BudgetSettings(soft_tokens=100), redis=redis)
        now = clock.now()

        async def spend(tokens: float) -> None:
            await ledger.settle(await ledger.reserve("acme", Amount(tokens + 5), deferrable=False, now=now), Amount(tokens))

        await spend(40)
        mortal_redis.kill()
        await spend(30)
        assert (await ledger.total("acme", now)).tokens == 70

        mortal_redis.start()
        key = f"x:llm:budget:acme:{now.date()}"
        async with asyncio.timeout(60):
            while not await mortal_client.exists(key):
                await ledger.total("acme", now)
        assert float(await mortal_client.hget(key, "tokens") or 0) == 70, "the total from before, and what was used meanwhile"

    async def test_a_hard_budget_waits_for_redis(self, mortal_redis: RedisServer, mortal_client: Redis, clock: ManualClock) -> None:
        redis = GuardedRedis(client=mortal_client, prefix="x:", retry_s=0.05)
        ledger = BudgetLedger(budget_of=lambda _: BudgetSettings(hard_tokens=100), redis=redis)
        await ledger.reserve("acme", Amount(40), deferrable=False, now=clock.now())
        mortal_redis.kill()
        with pytest.raises(BudgetExceededError, match="cannot be checked"):
            await ledger.reserve("acme", Amount(40), deferrable=False, now=clock.now())
