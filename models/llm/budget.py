"""A tenant's daily budget (UTC): reserved before each call, settled after it, in a ledger that all workers share through Redis."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Protocol, cast

from redis.asyncio import Redis

from models.errors import BudgetExceededError
from models.llm.port import LLMRequest, LLMUsage
from models.llm.usage import PriceTable
from runtime.clocks import Clock
from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.redis import GuardedRedis
from runtime.redis_keys import KeyFamily
from runtime.settings import BudgetSettings

_LOG = logger(__name__)

_TTL_S: Final = 3 * 86400
_UNCHECKED_WAIT_S: Final = 10.0
"""Wait between two attempts to check a budget."""

# Counts what a call may use before it runs, so that two concurrent calls never both get the last of it. The reservation of a killed
# worker stays counted: its provider most likely charged for the call.
# A missing total may have been evicted: the last total that this process saw replaces it, so that a day's budget never starts again at 0.
_RESERVE: Final = """
local hard_tokens, hard_cost = tonumber(ARGV[3]), tonumber(ARGV[4])
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], 'tokens', ARGV[6], 'cost', ARGV[7])
  redis.call('EXPIRE', KEYS[1], ARGV[5])
end
local tokens = tonumber(redis.call('HGET', KEYS[1], 'tokens') or '0')
local cost = tonumber(redis.call('HGET', KEYS[1], 'cost') or '0')
if (hard_tokens >= 0 and tokens + tonumber(ARGV[1]) > hard_tokens) or (hard_cost >= 0 and cost + tonumber(ARGV[2]) > hard_cost) then
  return {0, tostring(tokens), tostring(cost)}
end
tokens = redis.call('HINCRBYFLOAT', KEYS[1], 'tokens', ARGV[1])
cost = redis.call('HINCRBYFLOAT', KEYS[1], 'cost', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[5])
return {1, tokens, cost}
"""

# A Redis that lost the reservations must not go below zero when the calls are settled.
_ADD: Final = """
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], 'tokens', ARGV[4], 'cost', ARGV[5]) end
local function add(name, amount)
  local total = redis.call('HINCRBYFLOAT', KEYS[1], name, amount)
  if tonumber(total) >= 0 then return total end
  redis.call('HSET', KEYS[1], name, '0')
  return '0'
end
local tokens, cost = add('tokens', ARGV[1]), add('cost', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return {tokens, cost}
"""


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens (prompt and completion) and their cost."""

    tokens: float = 0.0
    cost: float = 0.0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(self.tokens - other.tokens, self.cost - other.cost)

    def exceeds(self, tokens: float | None, cost: float | None) -> bool:
        """Whether it is more than either limit; None: no limit."""
        return (tokens is not None and self.tokens > tokens) or (cost is not None and self.cost > cost)


@dataclass(frozen=True, slots=True)
class Reservation:
    """The amount reserved for one call."""

    tenant: str
    day: date
    amount: Amount


class Budget(Protocol):
    """Limits the usage of calls: each reserves the most that it may use, and returns the rest."""

    async def reserve(self, tenant: str, maximum: Amount, *, deferrable: bool, now: datetime) -> Reservation:
        """Reserves the most that a call may use; see :meth:`BudgetLedger.reserve`."""
        ...

    async def settle(self, reservation: Reservation, used: Amount) -> None:
        """Replaces the reservation by the actual usage."""
        ...


class BudgetLedger:
    """Reserves before a call, corrects after it.

    A hard budget fails closed: while Redis is unavailable or full, a tenant with one makes no calls. For other tenants, each process
    counts on from the last total that it saw, and sends its own share to Redis afterwards; until then, workers do not see each other's
    calls.

    Args:
        name: The purpose of the budget. Each name has its own count.
    """

    def __init__(self, *, budget_of: Callable[[str], BudgetSettings], redis: GuardedRedis, name: str = "budget") -> None:
        self._budget_of = budget_of
        self._family = KeyFamily(f"llm:{name}")
        self._redis = redis
        self._last_totals: dict[tuple[str, date], Amount] = {}
        self._unsent: dict[tuple[str, date], Amount] = {}
        self._warned: set[tuple[str, date]] = set()

    async def reserve(self, tenant: str, maximum: Amount, *, deferrable: bool, now: datetime) -> Reservation:
        """Reserves the most that a call may use.

        Args:
            tenant: The tenant.
            maximum: Tokens and cost, at most.
            deferrable: Whether the call can wait for off-peak hours.
            now: The time.

        Raises:
            BudgetExceededError: If the call could exceed the hard budget; or, with ``soft``, if the soft budget is used up and the call
                should wait for off-peak hours; or if there is a hard budget that cannot be checked.
        """
        day = now.astimezone(UTC).date()
        self._forget_before(day - timedelta(days=1))
        budget = self._budget_of(tenant)
        has_soft = budget.soft_tokens is not None or budget.soft_cost is not None
        if has_soft and (total := await self.total(tenant, now)).exceeds(budget.soft_tokens, budget.soft_cost):
            self._warn_once(tenant, day, total)
            if deferrable:
                _defer(tenant, budget, now)
        if not await self._try_reserve(tenant, day, maximum, (budget.hard_tokens, budget.hard_cost)):
            raise BudgetExceededError(
                f"tenant {tenant!r}: a call of up to {maximum.tokens:g} tokens (cost {maximum.cost:g}) could exceed the hard budget of "
                f"{day} ({budget.hard_tokens} tokens, cost {budget.hard_cost}); wait, or raise VARVE_BUDGET__HARD_* or the tenant's own",
                retry_after=_seconds_until(day + timedelta(days=1), now),
                offline=budget.policy == "offline",
            )
        return Reservation(tenant, day, maximum)

    async def settle(self, reservation: Reservation, used: Amount) -> None:
        """Replaces the reservation by the actual usage."""
        await self._add(reservation.tenant, reservation.day, used - reservation.amount)

    async def total(self, tenant: str, now: datetime) -> Amount:
        """The tenant's usage today, including reservations of running calls."""
        return await self._add(tenant, now.astimezone(UTC).date(), Amount())

    def _warn_once(self, tenant: str, day: date, total: Amount) -> None:
        if (tenant, day) not in self._warned:
            self._warned.add((tenant, day))
            _LOG.warning("soft_budget_used_up", tenant=tenant, day=str(day), tokens=total.tokens, cost=total.cost)

    async def _try_reserve(self, tenant: str, day: date, maximum: Amount, hard: tuple[float | None, float | None]) -> bool:
        limits = [-1 if each is None else each for each in hard]
        seen = self._last_totals.get((tenant, day), Amount())
        if (tenant, day) in self._unsent:
            await self._add(tenant, day, Amount())
        try:
            is_reserved, tokens, cost = await self._redis.script(
                "reserving a budget",
                _RESERVE,
                [self._key(tenant, day)],
                *(maximum.tokens, maximum.cost, *limits, _TTL_S),
                *(seen.tokens, seen.cost),
            )
            self._last_totals[tenant, day] = Amount(float(tokens), float(cost))
            return bool(int(is_reserved))
        except RedisUnavailableError as error:
            if self._redis.is_configured and any(each is not None for each in hard):
                raise BudgetExceededError(
                    f"tenant {tenant!r} has a hard budget, which cannot be checked: {error}", retry_after=_UNCHECKED_WAIT_S
                ) from error
            if (self._local_total(tenant, day) + maximum).exceeds(*hard):
                return False
            self._unsent[tenant, day] = self._unsent.get((tenant, day), Amount()) + maximum
            return True

    async def _add(self, tenant: str, day: date, amount: Amount) -> Amount:
        """Adds to the total, including earlier usage that could not be sent; returns the new total."""
        amount += self._unsent.pop((tenant, day), Amount())
        seen = self._last_totals.get((tenant, day), Amount())
        try:
            tokens, cost = await self._redis.script(
                "settling a budget",
                _ADD,
                [self._key(tenant, day)],
                *(amount.tokens, amount.cost, _TTL_S),
                *(seen.tokens, seen.cost),
            )
            self._last_totals[tenant, day] = Amount(float(tokens), float(cost))
            return self._last_totals[tenant, day]
        except RedisUnavailableError:
            self._unsent[tenant, day] = self._unsent.get((tenant, day), Amount()) + amount
            return self._local_total(tenant, day)

    def _local_total(self, tenant: str, day: date) -> Amount:
        return self._last_totals.get((tenant, day), Amount()) + self._unsent.get((tenant, day), Amount())

    def _forget_before(self, day: date) -> None:
        for amounts in (self._last_totals, self._unsent):
            for old in [each for each in amounts if each[1] < day]:
                del amounts[old]
        self._warned = {each for each in self._warned if each[1] >= day}

    def _key(self, tenant: str, day: date) -> str:
        return _key_of(self._redis, self._family, tenant, day)


async def read_totals(redis: GuardedRedis, tenants: Sequence[str], now: datetime, *, name: str = "budget") -> list[Amount]:
    """The usage of each tenant today, in the order of the tenants, including reservations of running calls. Reads only.

    Args:
        redis: Holds the ledger.
        tenants: The tenants.
        now: The time.
        name: See :class:`BudgetLedger`.

    Raises:
        RedisUnavailableError: If Redis is unavailable.
    """
    family, day = KeyFamily(f"llm:{name}"), now.astimezone(UTC).date()
    keys = [_key_of(redis, family, tenant, day) for tenant in tenants]

    async def read(client: Redis) -> list[list[bytes | None]]:
        async with client.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.hmget(key, ["tokens", "cost"])
            return cast(list[list[bytes | None]], await pipe.execute())

    found = await redis.run("reading budgets", read) if keys else []
    return [Amount(float(tokens or 0), float(cost or 0)) for tokens, cost in found]


def _key_of(redis: GuardedRedis, family: KeyFamily, tenant: str, day: date) -> str:
    return redis.key(family, tenant, day.isoformat())


@dataclass(frozen=True, slots=True, kw_only=True)
class CallUsage:
    """The usage of one call."""

    model: str
    tokens: LLMUsage
    is_estimated: bool
    latency_ms: float


@dataclass(slots=True)
class Admission:
    """One call's permission to use its reservation."""

    reserving: asyncio.Task[Reservation]
    usage: CallUsage | None = None
    """None also for a call that the endpoint does not charge for."""
    has_ended: bool = False

    def end(self) -> None:
        """Marks the call as ended: unused tokens are free for other calls."""
        self.has_ended = True


class RequestAccount:
    """Books all calls for one request: the first, fallbacks and hedged calls."""

    def __init__(self, *, request: LLMRequest, ledger: Budget, prices: PriceTable, clock: Clock) -> None:
        self._request = request
        self._ledger = ledger
        self._prices = prices
        self._clock = clock
        self._admitted: list[Admission] = []
        self._settled: list[Admission] = []

    @property
    def usages(self) -> list[CallUsage]:
        """The usage of each call, in the order of admission."""
        return [each.usage for each in (*self._settled, *self._admitted) if each.usage is not None]

    async def admit(self, model: str, maximum: LLMUsage) -> Admission:
        """Reserves the most that one more call may use. The caller ends the admission.

        Raises:
            BudgetExceededError: As :meth:`BudgetLedger.reserve` does.
        """
        admission = Admission(asyncio.create_task(self._reserve(self._amount(model, maximum))))
        self._admitted.append(admission)
        # Shielded: if the call is cancelled in the meantime, the reservation must still be known, to be settled.
        await asyncio.shield(admission.reserving)
        return admission

    async def settle(self) -> None:
        """Replaces all reservations by the actual usage."""
        await self._settle(list(self._admitted))

    async def _reserve(self, maximum: Amount) -> Reservation:
        await self._settle([each for each in self._admitted if each.has_ended])
        return await self._ledger.reserve(self._request.tenant, maximum, deferrable=self._request.deferrable, now=self._clock.now())

    async def _settle(self, admissions: list[Admission]) -> None:
        for each in admissions:
            self._admitted.remove(each)
            self._settled.append(each)
            (reservation,) = await asyncio.gather(each.reserving, return_exceptions=True)
            if isinstance(reservation, Reservation):
                used = Amount() if each.usage is None else self._amount(each.usage.model, each.usage.tokens)
                await self._ledger.settle(reservation, used)

    def _amount(self, model: str, tokens: LLMUsage) -> Amount:
        return Amount(tokens.prompt_tokens + tokens.completion_tokens, self._prices.cost(model, tokens))


def _defer(tenant: str, budget: BudgetSettings, now: datetime) -> None:
    start = budget.off_peak_start_hour
    if start is None:
        return
    wait = seconds_until_off_peak(now, start_hour=start, hours=budget.off_peak_hours)
    if wait > 0:
        raise BudgetExceededError(
            f"tenant {tenant!r} has used up its soft budget of today; deferrable calls wait until {start}:00 UTC",
            retry_after=wait,
            soft=True,
        )


def seconds_until_off_peak(now: datetime, *, start_hour: int, hours: int) -> float:
    """Seconds until the next off-peak time begins; 0 within it.

    Args:
        now: The time.
        start_hour: Hour of the day (UTC) at which it begins.
        hours: How long it lasts, 1 to 24.
    """
    now = now.astimezone(UTC)
    start = datetime.combine(now.date(), time(start_hour), UTC)
    if start > now:
        start -= timedelta(days=1)
    if now < start + timedelta(hours=hours):
        return 0.0
    return (start + timedelta(days=1) - now).total_seconds()


def _seconds_until(day: date, now: datetime) -> float:
    return (datetime.combine(day, time(), UTC) - now).total_seconds()
