"""Limits of a re-extraction in one process: its budget, its rate, and the priority of live stages."""

import asyncio
import math
from typing import Final

from control import ControlFollower
from control.reextraction import Reextraction
from control.tenants import TenantDirectory
from models.errors import NotProcessedError
from models.llm.budget import Limit, Spent
from models.llm.limiter import Limiter
from models.llm.limits import Limits
from models.llm.total_budget import TotalBudget
from runtime.background import set_within
from runtime.clocks import Clock, SystemClock
from runtime.metrics import metrics
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from streams.errors import TransientError
from streams.operations.reextraction.budget import ReextractionBudget
from streams.operations.reextraction.day_waits import DayWaits
from streams.operations.reextraction.sizing import shared_limit
from streams.stages.model_calls import TenantBudgets

_PACE_S: Final = 1.0
"""How often a call under a rate asks for its turn."""
_MANY_CALLS: Final = 1_000_000
"""Concurrent calls that the limit of calls per minute allows."""


def limited_settings(settings: Settings) -> Settings:
    """The settings of a re-extraction's stage.

    - Half of each limit of the endpoints. The limits count the calls of all workers, also the live ones. A call under a smaller limit is
      made only while fewer calls run, so live calls never wait for it.
    - No window is parked: a year of them would be copied into the table. The stage stops reading instead.
    """
    llm = settings.llm
    fallbacks = tuple(each.model_copy(update=_halved(each)) for each in llm.fallbacks)
    delivery = settings.delivery.model_copy(update={"park_after_s": math.inf})
    return settings.model_copy(update={"llm": llm.model_copy(update={**_halved(llm), "fallbacks": fallbacks}), "delivery": delivery})


def _halved(limits: object) -> dict[str, int]:
    names = ("concurrency", "requests_per_minute", "tokens_per_minute")
    return {name: shared_limit(value) for name in names if (value := getattr(limits, name)) is not None}


class RunMetering:
    """The limits of one re-extraction in this process; see :class:`streams.stages.extraction.metering.Metering`.

    Args:
        settings: The settings.
        run: The re-extraction.
        follower: Has the budget in force.
        redis: Has what is spent.
        spent: What was spent before.
        clock: The clock of the daily budgets. Default: the machine's.
    """

    def __init__(
        self,
        settings: Settings,
        run: Reextraction,
        follower: ControlFollower,
        redis: GuardedRedis,
        spent: Spent,
        *,
        clock: Clock | None = None,
    ) -> None:
        self.run = run
        self.clock = clock or SystemClock()
        self.stop_stage = asyncio.Event()
        self.used_up: str | None = None
        """Why the budget allows no further call."""
        self.is_done = False
        """Whether every tenant was switched, and no window is missing."""
        self.is_changed = False
        """Whether the control log has changed the re-extraction so that the stage had to stop."""
        self._busy: str | None = None
        self._free = asyncio.Event()
        self._free.set()
        self._follower = follower
        self._asks_model = settings.llm.base_url is not None
        rate = run.budget.calls_per_minute
        self._pace = (
            None
            if rate is None
            else Limiter(
                endpoint=f"reextraction:{run.generation}",
                limits=Limits(concurrency=_MANY_CALLS, requests_per_minute=rate),
                redis=redis,
                queue_timeout_s=_PACE_S,
                lease_s=settings.llm.lease_s,
            )
        )
        waiting = metrics().reextraction_waiting_tenants.labels(run.generation)
        total = TotalBudget(
            name=run.generation, limit=self._limit, redis=redis, spent=spent, on_used_up=self._on_used_up, turn=self._next_call
        )
        self.budget = ReextractionBudget(
            total=total,
            budget_of=TenantBudgets(tenants=TenantDirectory(follower), settings=settings).of,
            redis=redis,
            waits=DayWaits(run.generation, redis, waiting.set),
        )

    async def turn(self) -> None:
        """Waits while live stages have backlogs; without a model, also for the next window of the rate."""
        await self._free.wait()
        if not self._asks_model:
            await self._next_call()
        if self.stop_stage.is_set():
            raise _stopping()

    def yield_to(self, busy: str | None) -> bool:
        """Makes further windows wait for a live stage.

        Args:
            busy: The stage. None: they continue.

        Returns:
            Whether they have to wait since now.
        """
        begins = busy is not None and self._busy is None
        self._busy = busy
        if busy is None or self.stop_stage.is_set():
            self._free.set()
        else:
            self._free.clear()
        return begins

    async def stop(self) -> None:
        """Stops the stage. Running calls end, waiting ones are refused."""
        self.stop_stage.set()
        self._free.set()
        await self.budget.total.stop()

    async def close(self) -> None:
        """Releases what it holds in Redis."""
        if self._pace is not None:
            await self._pace.close()

    def _limit(self) -> Limit:
        budget = self._follower.state.reextractions[self.run.generation].budget
        return Limit(budget.tokens, budget.cost)

    def _on_used_up(self, reason: str) -> None:
        self.used_up = self.used_up or reason
        self.stop_stage.set()

    async def _next_call(self) -> None:
        while self._pace is not None and not self.stop_stage.is_set():
            try:
                async with self._pace.lease(0):
                    return
            except NotProcessedError:
                await set_within(self.stop_stage, _PACE_S)


def _stopping() -> TransientError:
    return TransientError("the re-extraction is being stopped", dependency="budget", retry_after_s=1.0, counts_as_attempt=False)
