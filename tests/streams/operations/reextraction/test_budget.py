"""Calls of a re-extraction stop at its share of a tenant's day; live calls keep the rest, and it continues on the next day."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from models.errors import BudgetExceededError
from models.llm.budget import Amount, Limit, Reservation, Spent
from models.llm.daily_budget import BudgetLedger, read_totals
from models.llm.total_budget import TotalBudget
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.settings import BudgetSettings
from streams.operations.reextraction.budget import ReextractionBudget
from streams.operations.reextraction.day_waits import RENEWAL_S, DayWaits, read_waits

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TENANTS = ("acme", "globex")
TOMORROW = datetime(2026, 1, 2, tzinfo=UTC)


class Worker:
    """A re-extraction of one process, next to the live calls of the same tenants."""

    def __init__(self, redis: GuardedRedis, budget: BudgetSettings, *, total: Limit | None = None) -> None:
        self.now = NOON
        self.waiting = -1
        self.settings = budget
        self.live = BudgetLedger(budget_of=lambda tenant: self.settings, redis=redis)
        self.budget = self._made(redis, lambda tenant: self.settings if tenant == "acme" else BudgetSettings(), total or Limit())

    def _made(self, redis: GuardedRedis, budget_of: Callable[[str], BudgetSettings], total: Limit) -> ReextractionBudget:
        count = TotalBudget(name="v2", limit=lambda: total, redis=redis, spent=Spent(), on_used_up=lambda reason: None)
        return ReextractionBudget(total=count, budget_of=budget_of, redis=redis, waits=DayWaits("v2", redis, self._note))

    def _note(self, waiting: int) -> None:
        self.waiting = waiting

    async def call(self, tokens: float, cost: float = 0.0, *, tenant: str = "acme") -> Reservation:
        return await self.budget.reserve(tenant, Amount(tokens, cost), deferrable=False, now=self.now)

    async def call_live(self, tokens: float) -> Reservation:
        return await self.live.reserve("acme", Amount(tokens), deferrable=False, now=self.now)


@pytest.fixture
async def shared(redis_url: str) -> AsyncIterator[GuardedRedis]:
    async with Redis.from_url(redis_url) as client:
        yield GuardedRedis(client=client, prefix=f"{uuid4().hex}:")


async def test_a_day_ends_at_its_share(shared: GuardedRedis) -> None:
    worker = Worker(shared, BudgetSettings(hard_tokens=2_000))
    assert worker.waiting == 0
    await worker.budget.settle(await worker.call(900), Amount(800))
    with pytest.raises(
        BudgetExceededError, match=r"used 800 of the 1,000 tokens .* may use 300; it continues at 2026-01-02 00:00"
    ) as refused:
        await worker.call(300)
    assert (refused.value.kind, refused.value.offline, refused.value.retry_after_s) == ("reextraction", False, 12 * 3600)
    assert worker.waiting == 1
    (wait,) = (await read_waits(shared, "v2", TENANTS, NOON)).values()
    assert wait.until == TOMORROW
    assert worker.budget.total.spent == Spent(Amount(800), 1), "the refused call is in neither count"
    assert await read_totals(shared, ["acme"], NOON) == [Amount(800)]

    worker.now = TOMORROW
    await worker.call(300)
    assert worker.waiting == 0
    assert await read_waits(shared, "v2", TENANTS, NOON) == {}


async def test_live_calls_use_the_rest_of_the_budget(shared: GuardedRedis) -> None:
    worker = Worker(shared, BudgetSettings(hard_tokens=2_000, reextraction_share=0.25))
    await worker.call(500)
    with pytest.raises(BudgetExceededError):
        await worker.call(1)
    await worker.call_live(1_500)
    with pytest.raises(BudgetExceededError):
        await worker.call_live(1)

    worker.now = TOMORROW
    await worker.call_live(400)
    with pytest.raises(BudgetExceededError, match="has used 400 of the 500 tokens"):
        await worker.call(101)
    await worker.call(100)


async def test_the_soft_limit_is_shared_if_it_is_smaller(shared: GuardedRedis) -> None:
    worker = Worker(shared, BudgetSettings(soft_tokens=1_000, hard_tokens=10_000, hard_cost=2.0))
    with pytest.raises(BudgetExceededError, match=r"0 of the 500 tokens .* it fits on no day"):
        await worker.call(501)
    with pytest.raises(BudgetExceededError, match=r"0.0000 of the 1.0000 of cost"):
        await worker.call(1, 1.5)
    await worker.call(500, 1.0)


async def test_other_tenants_go_on(shared: GuardedRedis) -> None:
    worker = Worker(shared, BudgetSettings(hard_tokens=0))
    with pytest.raises(BudgetExceededError):
        await worker.call(1)
    await worker.call(1_000_000, tenant="globex")
    assert [*await read_waits(shared, "v2", TENANTS, NOON)] == ["acme"]
    assert await read_waits(shared, "v2", TENANTS, TOMORROW) == {}, "a wait that is over is not shown"


async def test_a_raised_budget_ends_the_wait(shared: GuardedRedis) -> None:
    worker = Worker(shared, BudgetSettings(hard_tokens=100))
    with pytest.raises(BudgetExceededError):
        await worker.call(60)
    worker.settings = BudgetSettings(hard_tokens=200)
    await worker.call(60)
    assert worker.waiting == 0


async def test_a_wait_is_shown_while_no_call_is_tried(shared: GuardedRedis) -> None:
    worker = Worker(shared, BudgetSettings(hard_tokens=100))
    with pytest.raises(BudgetExceededError):
        await worker.call(60)
    note = shared.key(KeyFamily.LLM_REEXTRACTION_WAITS, "v2", "acme")
    await shared.run("expiring the note", lambda client: client.expire(note, 1))
    await worker.budget.renew_waits(NOON)
    assert await shared.run("reading the note", lambda client: client.ttl(note)) > RENEWAL_S
    (wait,) = (await read_waits(shared, "v2", TENANTS, NOON)).values()
    assert wait.until == TOMORROW


@pytest.mark.parametrize(("now", "hard_tokens"), [(NOON, 200), (TOMORROW, 100)])
async def test_a_renewal_ends_waits_that_are_over(shared: GuardedRedis, now: datetime, hard_tokens: int) -> None:
    worker = Worker(shared, BudgetSettings(hard_tokens=100))
    await worker.call(40)
    with pytest.raises(BudgetExceededError):
        await worker.call(20)
    await worker.budget.renew_waits(NOON)
    assert worker.waiting == 1
    worker.settings = BudgetSettings(hard_tokens=hard_tokens)
    await worker.budget.renew_waits(now)
    assert worker.waiting == 0
    assert await read_waits(shared, "v2", TENANTS, NOON) == {}


async def test_a_call_beyond_the_total_leaves_the_day(shared: GuardedRedis) -> None:
    worker = Worker(shared, BudgetSettings(hard_tokens=2_000), total=Limit(tokens=100))
    with pytest.raises(BudgetExceededError, match="the budget is used up"):
        await worker.call(200)
    assert await read_totals(shared, ["acme"], NOON) == [Amount()]
    assert worker.waiting == 0


async def test_an_unknown_budget_never_switches_to_rules(shared: GuardedRedis) -> None:
    worker = Worker(shared, BudgetSettings())

    def refuse(tenant: str) -> BudgetSettings:
        raise BudgetExceededError("no price table", retry_after_s=60.0, offline=True)

    worker.budget = worker._made(shared, refuse, Limit())
    with pytest.raises(BudgetExceededError, match="no price table") as refused:
        await worker.call(1)
    assert not refused.value.offline
    assert refused.value.retry_after_s < timedelta(days=1).total_seconds()
