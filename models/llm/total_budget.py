"""A budget for many calls of many tenants together, over any time: that of a re-extraction.

Calls reserve the most that they may use, so that the total never exceeds the limits, whatever worker makes them. The reservations of a
killed worker stay counted: its provider most likely charged for the calls.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Final

from models.errors import BudgetExceededError
from models.llm.budget import Amount, Limit, Reservation, Spent
from models.llm.shared_count import add_to_count, read_counts
from runtime.errors import RedisUnavailableError
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

_RETRY_S: Final = 1.0
"""Wait between two attempts of a call: by then the worker has stopped, or Redis answers again."""
_NO_LIMIT: Final = Limit()


class TotalBudget:
    """A :class:`models.llm.budget.Budget` without days, shared by all tenants.

    It fails closed: while Redis is unavailable, no calls are made. Without a Redis, the process counts alone.

    Args:
        name: Name of the budget; each has its own count.
        limit: The limits in force, read before each call.
        redis: Has the count.
        spent: What is known to be spent, for example from the log.
        turn: Waits until a further call may be made. Default: no wait.
        on_used_up: Called with the reason when a call does not fit into the limits and no call of this process is running.
    """

    def __init__(
        self,
        *,
        name: str,
        limit: Callable[[], Limit],
        redis: GuardedRedis,
        spent: Spent,
        on_used_up: Callable[[str], None],
        turn: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._key = total_key(redis, name)
        self._limit = limit
        self._redis = redis
        self._spent = spent
        self._on_used_up = on_used_up
        self._turn = turn
        self._running = 0
        self._settlements = 0
        self._lock = asyncio.Lock()
        """One reservation at a time: otherwise the number of running calls would be unknown while Redis answers."""
        self._changed = asyncio.Condition()
        self._is_stopped = False

    @property
    def spent(self) -> Spent:
        """The usage that this process knows of."""
        return self._spent

    async def reserve(self, tenant: str, maximum: Amount, *, deferrable: bool, now: datetime) -> Reservation:
        """Reserves the most that a call may use; waits if the usage of running calls may leave enough.

        Args:
            tenant: The tenant of the call.
            maximum: Tokens and cost, at most.
            deferrable: Without effect.
            now: The time.

        Raises:
            BudgetExceededError: If the call does not fit into the limits, or the count cannot be read.
        """
        if self._turn is not None:
            await self._turn()
        while True:
            async with self._lock:
                if self._is_stopped:
                    raise BudgetExceededError("the re-extraction is being stopped", retry_after_s=_RETRY_S, kind="reextraction")
                seen, is_alone = self._settlements, not self._running
                if await self._try_reserve(maximum):
                    self._running += 1
                    return Reservation(tenant, now.astimezone(UTC).date(), maximum)
            if is_alone:
                reason = _reason(self._spent, maximum, self._limit())
                self._on_used_up(reason)
                raise BudgetExceededError(reason, retry_after_s=_RETRY_S, kind="reextraction")
            async with self._changed:
                await self._changed.wait_for(partial(self._has_changed_since, seen))

    async def begin(self) -> None:
        """Writes what is known to be spent, unless there is a count."""
        with suppress(RedisUnavailableError):
            await self._add(Amount(), 0)

    async def stop(self) -> None:
        """Refuses all further calls, also waiting ones; running calls continue."""
        self._is_stopped = True
        async with self._changed:
            self._changed.notify_all()

    async def settle(self, reservation: Reservation, used: Amount) -> None:
        """Replaces the reservation by the actual usage. A call that was refused is not counted."""
        try:
            await self._add(used - reservation.amount, 0 if used.tokens else -1)
        except RedisUnavailableError:
            pass  # The reservation stays counted.
        finally:
            self._running -= 1
            self._settlements += 1
            async with self._changed:
                self._changed.notify_all()

    def _has_changed_since(self, settlements: int) -> bool:
        return self._settlements != settlements or self._is_stopped

    async def _try_reserve(self, maximum: Amount) -> bool:
        limit = self._limit()
        if not self._redis.is_configured:
            if (self._spent.amount + maximum).exceeds(*limit):
                return False
            return await self._add(maximum, 1)
        try:
            return await self._add(maximum, 1, most=limit)
        except RedisUnavailableError as error:
            raise BudgetExceededError(
                f"the budget of the re-extraction cannot be checked: {error}", retry_after_s=10 * _RETRY_S, kind="reextraction"
            ) from error

    async def _add(self, amount: Amount, calls: int, *, most: Limit = _NO_LIMIT) -> bool:
        if not self._redis.is_configured:
            self._spent = Spent(self._spent.amount + amount, self._spent.calls + calls)
            return True
        is_added, self._spent = await add_to_count(self._redis, self._key, amount, calls=calls, known=self._spent, most=most)
        return is_added


def total_key(redis: GuardedRedis, name: str) -> str:
    """The key of the count of a :class:`TotalBudget`."""
    return redis.key(KeyFamily.LLM_REEXTRACTION, name)


async def read_total(redis: GuardedRedis, name: str) -> Spent | None:
    """The count of a :class:`TotalBudget`; None if Redis has none.

    Raises:
        RedisUnavailableError: If Redis is unavailable.
    """
    (found,) = await read_counts(redis, [total_key(redis, name)])
    return found


async def forget_total(redis: GuardedRedis, name: str) -> None:
    """Deletes the count of a :class:`TotalBudget`.

    Raises:
        RedisUnavailableError: If Redis is unavailable.
    """
    await redis.unlink("deleting a budget", [total_key(redis, name)])


def _reason(spent: Spent, maximum: Amount, limit: Limit) -> str:
    over_tokens = limit.tokens is not None and spent.amount.tokens + maximum.tokens > limit.tokens
    if over_tokens:
        used = f"{spent.amount.tokens:,.0f} of {limit.tokens:,.0f} tokens are used, and the next call may use {maximum.tokens:,.0f}"
    else:
        used = f"{spent.amount.cost:,.4f} of {limit.cost or 0:,.4f} are spent, and the next call may cost {maximum.cost:,.4f}"
    return f"the budget is used up: {used}"
