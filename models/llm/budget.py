"""What a tenant may use up in a day (UTC): the ledger, shared by all workers through Redis."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from models.errors import BudgetExceededError
from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.redis import GuardedRedis
from runtime.settings import BudgetSettings

_LOG = logger(__name__)

_KEPT_S: Final = 3 * 86400

# Counts what a call may use up before it runs: two calls at once never both take the last of it. What a killed worker had taken stays
# counted, for its provider most likely charged it.
_RESERVE: Final = """
local hard_tokens, hard_cost = tonumber(ARGV[3]), tonumber(ARGV[4])
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

# A Redis that lost what was set aside must not be left owing it when the calls are settled.
_ADD: Final = """
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

    def passes(self, tokens: float | None, cost: float | None) -> bool:
        """Whether it is more than either bound; None: no bound."""
        return (tokens is not None and self.tokens > tokens) or (cost is not None and self.cost > cost)


@dataclass(frozen=True, slots=True)
class Reservation:
    """What was set aside for one call."""

    tenant: str
    day: date
    amount: Amount


class BudgetLedger:
    """Sets aside before a call, corrects after it.

    While Redis is away each process counts on from the last total it saw, and brings what was used up meanwhile to Redis afterwards: until
    then, workers do not see each other's calls.
    """

    def __init__(self, *, budget_of: Callable[[str], BudgetSettings], redis: GuardedRedis) -> None:
        """A ledger under these limits, by tenant."""
        self._budget_of = budget_of
        self._redis = redis
        self._known: dict[tuple[str, date], Amount] = {}
        self._unsent: dict[tuple[str, date], Amount] = {}
        self._warned: set[tuple[str, date]] = set()

    async def reserve(self, tenant: str, most: Amount, *, deferrable: bool, now: datetime) -> Reservation:
        """Sets aside the most that a call may use up.

        Args:
            tenant: On whose account.
            most: Tokens and cost, at most.
            deferrable: Whether the call can wait for off-peak hours.
            now: The time.

        Raises:
            BudgetExceededError: If the call could pass the hard budget; or, with ``soft``, if the soft budget is used up and the call
                should wait for off-peak hours.
        """
        day = now.astimezone(UTC).date()
        self._forget_before(day - timedelta(days=1))
        budget = self._budget_of(tenant)
        has_soft = budget.soft_tokens is not None or budget.soft_cost is not None
        if has_soft and (spent := await self._spent(tenant, day)).passes(budget.soft_tokens, budget.soft_cost):
            self._warn_once(tenant, day, spent)
            if deferrable:
                _defer(tenant, budget, now)
        if not await self._take(tenant, day, most, (budget.hard_tokens, budget.hard_cost)):
            raise BudgetExceededError(
                f"tenant {tenant!r}: a call of up to {most.tokens:g} tokens (cost {most.cost:g}) could pass the hard budget of {day} "
                f"({budget.hard_tokens} tokens, cost {budget.hard_cost}); wait, or raise it: VARVE_BUDGET__HARD_*, or the tenant's own",
                retry_after=_seconds_until(day + timedelta(days=1), now),
                offline=budget.policy == "offline",
            )
        return Reservation(tenant, day, most)

    async def settle(self, reservation: Reservation, used: Amount) -> None:
        """Replaces what was set aside by what was used up."""
        await self._add(reservation.tenant, reservation.day, used - reservation.amount)

    async def spent(self, tenant: str, now: datetime) -> Amount:
        """What a tenant has used up today, with what is set aside for calls under way."""
        return await self._spent(tenant, now.astimezone(UTC).date())

    def _warn_once(self, tenant: str, day: date, spent: Amount) -> None:
        if (tenant, day) not in self._warned:
            self._warned.add((tenant, day))
            _LOG.warning("soft_budget_used_up", tenant=tenant, day=str(day), tokens=spent.tokens, cost=spent.cost)

    async def _spent(self, tenant: str, day: date) -> Amount:
        return await self._add(tenant, day, Amount())

    async def _take(self, tenant: str, day: date, most: Amount, hard: tuple[float | None, float | None]) -> bool:
        bounds = [-1 if each is None else each for each in hard]
        if (tenant, day) in self._unsent:
            await self._add(tenant, day, Amount())
        try:
            taken, tokens, cost = await self._redis.script(
                "reserving a budget", _RESERVE, [self._key(tenant, day)], most.tokens, most.cost, *bounds, _KEPT_S
            )
            self._known[tenant, day] = Amount(float(tokens), float(cost))
            return bool(int(taken))
        except RedisUnavailableError:
            if (self._locally(tenant, day) + most).passes(*hard):
                return False
            self._unsent[tenant, day] = self._unsent.get((tenant, day), Amount()) + most
            return True

    async def _add(self, tenant: str, day: date, amount: Amount) -> Amount:
        """Adds to the total, with what could not be sent before. Returns the new total."""
        amount += self._unsent.pop((tenant, day), Amount())
        try:
            tokens, cost = await self._redis.script(
                "settling a budget", _ADD, [self._key(tenant, day)], amount.tokens, amount.cost, _KEPT_S
            )
            self._known[tenant, day] = Amount(float(tokens), float(cost))
            return self._known[tenant, day]
        except RedisUnavailableError:
            self._unsent[tenant, day] = self._unsent.get((tenant, day), Amount()) + amount
            return self._locally(tenant, day)

    def _locally(self, tenant: str, day: date) -> Amount:
        return self._known.get((tenant, day), Amount()) + self._unsent.get((tenant, day), Amount())

    def _forget_before(self, day: date) -> None:
        for ledger in (self._known, self._unsent):
            for old in [each for each in ledger if each[1] < day]:
                del ledger[old]
        self._warned = {each for each in self._warned if each[1] >= day}

    def _key(self, tenant: str, day: date) -> str:
        return self._redis.key("llm", "budget", tenant, day.isoformat())


def _defer(tenant: str, budget: BudgetSettings, now: datetime) -> None:
    start = budget.off_peak_start_hour
    if start is None:
        return
    wait = seconds_until_off_peak(now, start_hour=start, hours=budget.off_peak_hours)
    if wait > 0:
        raise BudgetExceededError(
            f"tenant {tenant!r} has used up its soft budget of today; what can wait does so until {start}:00 UTC",
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
