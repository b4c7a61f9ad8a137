"""The budget of a re-extraction: never exceeded, shared by workers, and clear about its end."""

import asyncio
from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis

from models.errors import BudgetExceededError
from models.llm.budget import Amount, Limit, Reservation, Spent
from models.llm.total_budget import TotalBudget, forget_total, read_total
from runtime.redis.client import GuardedRedis

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DEADLINE_S = 30.0


class Worker:
    """One process with the budget."""

    def __init__(self, redis: GuardedRedis, limit: Limit, spent: Spent | None = None) -> None:
        self.limit = limit
        self.reasons: list[str] = []
        self.budget = TotalBudget(name="v2", limit=lambda: self.limit, redis=redis, spent=spent or Spent(), on_used_up=self.reasons.append)

    async def call(self, tokens: float, cost: float = 0.0) -> Reservation:
        async with asyncio.timeout(DEADLINE_S):
            return await self.budget.reserve("acme", Amount(tokens, cost), deferrable=False, now=NOW)


@pytest.fixture(params=["redis", "process"])
def shared(request: pytest.FixtureRequest, redis: Redis, prefix: str) -> GuardedRedis:
    """The count in Redis, or in the process alone."""
    return GuardedRedis(client=redis if request.param == "redis" else None, prefix=prefix)


@pytest.fixture
def in_redis(redis: Redis, prefix: str) -> GuardedRedis:
    return GuardedRedis(client=redis, prefix=prefix)


async def test_reservations_are_replaced_by_the_usage(shared: GuardedRedis) -> None:
    worker = Worker(shared, Limit(tokens=1_000))
    await worker.budget.settle(await worker.call(800, 0.5), Amount(300, 0.25))
    assert worker.budget.spent == Spent(Amount(300, 0.25), 1)
    await worker.budget.settle(await worker.call(700), Amount())
    assert worker.budget.spent == Spent(Amount(300, 0.25), 1), "a refused call costs nothing"
    assert not worker.reasons


async def test_a_call_that_does_not_fit_ends_the_budget(shared: GuardedRedis) -> None:
    worker = Worker(shared, Limit(tokens=1_000, cost=2.0))
    await worker.budget.settle(await worker.call(600, 1.5), Amount(600, 1.5))
    with pytest.raises(BudgetExceededError, match="600 of 1,000 tokens are used, and the next call may use 500"):
        await worker.call(500)
    with pytest.raises(BudgetExceededError, match=r"1.5000 of 2.0000 are spent, and the next call may cost 0.6000"):
        await worker.call(10, 0.6)
    assert len(worker.reasons) == 2
    worker.limit = Limit(tokens=5_000)
    assert await worker.call(500)


async def test_a_call_waits_for_reservations_before_it_fails(shared: GuardedRedis) -> None:
    worker = Worker(shared, Limit(tokens=1_000))
    running = [await worker.call(500), await worker.call(500)]
    waiting = [asyncio.create_task(worker.call(500)) for _ in range(3)]
    await asyncio.sleep(0)
    await worker.budget.settle(running[0], Amount(100))
    await worker.budget.settle(running[1], Amount(300))
    done, pending = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED, timeout=DEADLINE_S)
    assert len(done) == 1, "the budget covers one more call"
    await worker.budget.settle(done.pop().result(), Amount(500))
    with pytest.raises(BudgetExceededError):
        await asyncio.gather(*pending)
    await asyncio.gather(*pending, return_exceptions=True)
    assert worker.budget.spent.amount.tokens <= 1_000


async def test_waiting_calls_end_when_it_is_stopped(shared: GuardedRedis) -> None:
    worker = Worker(shared, Limit(tokens=1_000))
    await worker.call(900)
    waiting = asyncio.create_task(worker.call(900))
    await asyncio.sleep(0)
    await worker.budget.stop()
    with pytest.raises(BudgetExceededError, match="being stopped"):
        await waiting
    assert not worker.reasons


async def test_workers_never_exceed_the_limit_together(in_redis: GuardedRedis) -> None:
    workers = [Worker(in_redis, Limit(tokens=1_000)) for _ in range(4)]
    outcomes = await asyncio.gather(*(each.call(300) for each in workers), return_exceptions=True)
    assert sum(isinstance(each, Reservation) for each in outcomes) == 3
    assert await read_total(in_redis, "v2") == Spent(Amount(900), 3)


async def test_a_lost_count_is_replaced_by_the_known_one(in_redis: GuardedRedis) -> None:
    assert await read_total(in_redis, "v2") is None
    worker = Worker(in_redis, Limit(tokens=1_000), Spent(Amount(400, 0.2), 3))
    await worker.call(500)
    assert await read_total(in_redis, "v2") == Spent(Amount(900, 0.2), 4)
    await forget_total(in_redis, "v2")
    with pytest.raises(BudgetExceededError):
        # The reservation is still counted, so this call waits for it, until the count is settled.
        await asyncio.gather(worker.call(200), worker.budget.settle(Reservation("acme", NOW.date(), Amount(500)), Amount(500)))


async def test_without_redis_no_call_is_made(prefix: str) -> None:
    async with Redis(host="127.0.0.1", port=1) as client:
        worker = Worker(GuardedRedis(client=client, prefix=prefix), Limit())
        with pytest.raises(BudgetExceededError, match="cannot be checked"):
            await worker.call(1)
    assert not worker.reasons, "it is not used up"
