"""A tenant's daily budget (UTC): reserved before each call, settled after it, in a ledger that all workers share through Redis."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from models.errors import BudgetExceededError, DayUsedUpError
from models.llm.budget import Amount, Limit, Reservation, Spent
from models.llm.shared_count import add_to_count, read_counts
from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.settings import BudgetSettings

_LOG = logger(__name__)

DAILY: Final = "budget"
"""The name of the tenants' daily budget."""

_TTL_S: Final = 3 * 86400
_UNCHECKED_WAIT_S: Final = 10.0
"""Wait between two attempts to check a budget."""


class BudgetLedger:
    """Reserves before a call, corrects after it.

    A hard budget fails closed: while Redis is unavailable or full, a tenant with one makes no calls. For other tenants, each process
    counts on from the last total that it saw, and sends its own share to Redis afterwards; until then, workers do not see each other's
    calls.

    Args:
        name: The purpose of the budget. Each name has its own count.
    """

    def __init__(self, *, budget_of: Callable[[str], BudgetSettings], redis: GuardedRedis, name: str = DAILY) -> None:
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
            DayUsedUpError: If the call could exceed the hard budget.
            BudgetExceededError: With ``soft``, if the soft budget is used up and the call should wait for off-peak hours; or if there is a
                hard budget that cannot be checked.
        """
        day = now.astimezone(UTC).date()
        self._forget_before(day - timedelta(days=1))
        budget = self._budget_of(tenant)
        has_soft = budget.soft_tokens is not None or budget.soft_cost is not None
        if has_soft and (total := await self.total(tenant, now)).exceeds(budget.soft_tokens, budget.soft_cost):
            self._warn_once(tenant, day, total)
            if deferrable:
                _defer(tenant, budget, now)
        if not await self._try_reserve(tenant, day, maximum, Limit(budget.hard_tokens, budget.hard_cost)):
            raise DayUsedUpError(
                f"tenant {tenant!r}: a call of up to {maximum.tokens:g} tokens (cost {maximum.cost:g}) could exceed the hard budget of "
                f"{day} ({budget.hard_tokens} tokens, cost {budget.hard_cost}); wait, or raise VARVE_BUDGET__HARD_* or the tenant's own",
                retry_after_s=_seconds_until(day + timedelta(days=1), now),
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

    async def _try_reserve(self, tenant: str, day: date, maximum: Amount, hard: Limit) -> bool:
        if (tenant, day) in self._unsent:
            await self._add(tenant, day, Amount())
        try:
            is_reserved, self._last_totals[tenant, day] = await self._count(tenant, day, maximum, hard)
            return is_reserved
        except RedisUnavailableError as error:
            if self._redis.is_configured and any(each is not None for each in hard):
                raise BudgetExceededError(
                    f"tenant {tenant!r} has a hard budget, which cannot be checked: {error}", retry_after_s=_UNCHECKED_WAIT_S
                ) from error
            if (self._local_total(tenant, day) + maximum).exceeds(*hard):
                return False
            self._unsent[tenant, day] = self._unsent.get((tenant, day), Amount()) + maximum
            return True

    async def _add(self, tenant: str, day: date, amount: Amount) -> Amount:
        """Adds to the total, including earlier usage that could not be sent; returns the new total."""
        amount += self._unsent.pop((tenant, day), Amount())
        try:
            _, self._last_totals[tenant, day] = await self._count(tenant, day, amount, Limit())
            return self._last_totals[tenant, day]
        except RedisUnavailableError:
            self._unsent[tenant, day] = self._unsent.get((tenant, day), Amount()) + amount
            return self._local_total(tenant, day)

    async def _count(self, tenant: str, day: date, amount: Amount, most: Limit) -> tuple[bool, Amount]:
        known = Spent(self._last_totals.get((tenant, day), Amount()))
        key = _key_of(self._redis, self._family, tenant, day)
        is_added, spent = await add_to_count(self._redis, key, amount, known=known, most=most, ttl_s=_TTL_S)
        return is_added, spent.amount

    def _local_total(self, tenant: str, day: date) -> Amount:
        return self._last_totals.get((tenant, day), Amount()) + self._unsent.get((tenant, day), Amount())

    def _forget_before(self, day: date) -> None:
        for amounts in (self._last_totals, self._unsent):
            for old in [each for each in amounts if each[1] < day]:
                del amounts[old]
        self._warned = {each for each in self._warned if each[1] >= day}


async def read_totals(redis: GuardedRedis, tenants: Sequence[str], now: datetime) -> list[Amount]:
    """The usage of each tenant today, in the order of the tenants, including reservations of running calls. Reads only.

    Args:
        redis: Holds the ledger.
        tenants: The tenants.
        now: The time.

    Raises:
        RedisUnavailableError: If Redis is unavailable.
    """
    family, day = KeyFamily(f"llm:{DAILY}"), now.astimezone(UTC).date()
    found = await read_counts(redis, [_key_of(redis, family, tenant, day) for tenant in tenants])
    return [Amount() if each is None else each.amount for each in found]


def _key_of(redis: GuardedRedis, family: KeyFamily, tenant: str, day: date) -> str:
    return redis.key(family, tenant, day.isoformat())


def _defer(tenant: str, budget: BudgetSettings, now: datetime) -> None:
    start = budget.off_peak_start_hour
    if start is None:
        return
    wait = seconds_until_off_peak(now, start_hour=start, hours=budget.off_peak_hours)
    if wait > 0:
        raise BudgetExceededError(
            f"tenant {tenant!r} has used up its soft budget of today; deferrable calls wait until {start}:00 UTC",
            retry_after_s=wait,
            kind="soft",
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
