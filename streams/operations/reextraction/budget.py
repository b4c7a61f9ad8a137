"""The budget of a re-extraction's calls: its own total, and a share of each tenant's daily budget."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from models.errors import BudgetExceededError, DayUsedUpError
from models.llm.budget import Amount, Reservation
from models.llm.daily_budget import BudgetLedger
from models.llm.total_budget import TotalBudget
from runtime.redis.client import GuardedRedis
from runtime.settings import BudgetSettings
from streams.operations.reextraction.day_waits import DayWait, DayWaits


class ReextractionBudget:
    """A :class:`models.llm.budget.Budget` of calls that both the total and the tenant's day allow.

    The day's count is that of the live calls, so live calls see what a re-extraction has used. They may use the whole daily budget; a
    re-extraction stops when all calls together have used its share of it.

    Args:
        total: The budget of the re-extraction.
        budget_of: A tenant's daily budget; raises as :meth:`streams.stages.model_calls.TenantBudgets.of`.
        redis: Has the day's counts.
        waits: Receives the tenants whose windows wait for the next day.
    """

    def __init__(self, *, total: TotalBudget, budget_of: Callable[[str], BudgetSettings], redis: GuardedRedis, waits: DayWaits) -> None:
        self.total = total
        self._budget_of = budget_of
        self._daily = BudgetLedger(budget_of=self._share_of, redis=redis)
        self._waits = waits
        self._refused: dict[str, Amount] = {}
        """The last refused call of each tenant that waits for the next day."""

    async def reserve(self, tenant: str, maximum: Amount, *, deferrable: bool, now: datetime) -> Reservation:
        """Reserves the most that a call may use, of the tenant's day and of the total.

        Args:
            tenant: The tenant.
            maximum: Tokens and cost, at most.
            deferrable: Without effect: a re-extraction stops below the soft budget.
            now: The time.

        Raises:
            BudgetExceededError: If one of them does not allow the call, or cannot be checked. Its tenant's other windows wait, too.
        """
        try:
            of_day = await self._daily.reserve(tenant, maximum, deferrable=False, now=now)
        except DayUsedUpError as error:
            self._refused[tenant] = maximum
            wait = await self._wait(tenant, maximum, now)
            await self._waits.begin(tenant, wait)
            raise BudgetExceededError(
                f"{wait.reason}; it continues at {wait.until:%Y-%m-%d %H:%M} UTC", retry_after_s=error.retry_after_s, kind="reextraction"
            ) from error
        try:
            await self.total.reserve(tenant, maximum, deferrable=False, now=now)
        except BaseException:
            await self._daily.settle(of_day, Amount())
            raise
        await self._end_wait(tenant)
        return of_day

    async def renew_waits(self, now: datetime) -> None:
        """Notes again which tenants wait, and ends the waits of those whose day now allows the refused call.

        Without it, other processes would no longer see a wait while no call is tried.

        Args:
            now: The time.
        """
        for tenant, maximum in [*self._refused.items()]:
            with suppress(BudgetExceededError):  # the budget cannot be read now
                share, used = self._share_of(tenant), await self._daily.total(tenant, now)
                if (used + maximum).exceeds(share.hard_tokens, share.hard_cost):
                    await self._waits.begin(tenant, await self._wait(tenant, maximum, now))
                else:
                    await self._end_wait(tenant)

    async def _end_wait(self, tenant: str) -> None:
        self._refused.pop(tenant, None)
        await self._waits.end(tenant)

    async def settle(self, reservation: Reservation, used: Amount) -> None:
        """Replaces the reservation by the actual usage."""
        await self.total.settle(reservation, used)
        await self._daily.settle(reservation, used)

    def _share_of(self, tenant: str) -> BudgetSettings:
        try:
            return self._budget_of(tenant).for_reextractions
        except BudgetExceededError as error:
            # Without the policy `offline`: rules must not extract what a model was chosen for.
            raise BudgetExceededError(str(error), retry_after_s=error.retry_after_s, kind="reextraction") from error

    async def _wait(self, tenant: str, maximum: Amount, now: datetime) -> DayWait:
        share, used = self._share_of(tenant), await self._daily.total(tenant, now)
        tomorrow = (now.astimezone(UTC) + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        if share.hard_tokens is not None and used.tokens + maximum.tokens > share.hard_tokens:
            most, spent, next_call = f"{share.hard_tokens:,} tokens", f"{used.tokens:,.0f}", f"{maximum.tokens:,.0f}"
        else:
            most, spent, next_call = f"{share.hard_cost or 0:,.4f} of cost", f"{used.cost:,.4f}", f"{maximum.cost:,.4f}"
        never = "; it fits on no day: raise the daily budget or the share" if maximum.exceeds(share.hard_tokens, share.hard_cost) else ""
        return DayWait(
            tomorrow,
            f"tenant {tenant!r} has used {spent} of the {most} that re-extractions may use today (VARVE_BUDGET__REEXTRACTION_SHARE of its "
            f"daily budget), and the next call may use {next_call}{never}",
        )
