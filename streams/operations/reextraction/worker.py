"""The worker of a re-extraction: follows the control log, and extracts windows while the re-extraction is running.

It may be killed at any time. Its consumer group has the position, each window is committed together with its results, and a new worker
continues there: only the calls that were running are made again. Answers that had arrived are in the answer cache.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from control import ControlFollower, ControlWriter, Draft
from control.errors import ChangeRefusedError
from control.generations.reading import windows_topic, workers_of
from control.generations.reextractions import end_reextraction, pause_reextraction, reextraction_of, waiting_tenants, waits_for_erasure
from control.reextraction import Reextraction, State
from models.errors import NotTakenUpError
from models.llm.limiter import Limiter
from models.llm.limits import Limits
from models.llm.total_budget import Limit, Spent, TotalBudget, forget_total
from runtime.errors import KafkaUnavailableError, RedisUnavailableError
from runtime.interruption import GRACE_S, stop_by
from runtime.kafka import KafkaOffsets, TopicPartition
from runtime.kafka.parked_note import read_parked
from runtime.logs import logger
from runtime.metrics import metrics
from runtime.redis import GuardedRedis, open_redis
from runtime.settings import Settings
from streams.errors import TransientError
from streams.operations.reextraction.cancelling import remove_results
from streams.operations.reextraction.priority import busy_stage
from streams.operations.reextraction.progress import read_spent
from streams.operations.reextraction.sizing import shared_limit
from streams.run import serve_stage

_log = logger(__name__)

BY: Final = "the re-extraction's worker"
_POLL_S: Final = 0.25
_MEASURE_S: Final = 2.0
_PACE_S: Final = 1.0
"""How often a call under a rate asks for its turn."""
_MANY_CALLS: Final = 1_000_000
"""Concurrent calls that the limit of calls per minute allows."""


async def work(
    settings: Settings,
    generation: str,
    *,
    stop: asyncio.Event | None = None,
    wait: bool = False,
    notice: Callable[[str], None] = lambda line: None,
) -> State:
    """Works on a re-extraction until it is paused, cancelled or done.

    Args:
        settings: The settings of the worker: its model and prices.
        generation: The generation that it builds.
        stop: Ends the work when it is set; the re-extraction stays as it is.
        wait: Whether to wait for the resumption of a paused re-extraction, instead of ending.
        notice: Called with lines of progress.

    Returns:
        The state of the re-extraction.

    Raises:
        UnknownReextractionError: If there is none.
        StreamError: If the worker fails.
        KafkaUnavailableError: If no broker responds.
    """
    stop = stop or asyncio.Event()
    follower = ControlFollower(settings=settings)
    follower.start()
    try:
        await follower.wait_for(0, timeout_s=settings.kafka.request_timeout_s)
        stop_by(stop.set, grace_s=GRACE_S)
        async with open_redis(settings.redis) as redis:
            while True:
                run = reextraction_of(Draft(follower.state), generation)
                if stop.is_set() or run.state in ("cancelled", "done") or (run.state == "paused" and not wait):
                    return run.state
                if run.state == "running" and waits_for_erasure(Draft(follower.state), run):
                    notice("waiting for an erasure to finish")
                    await _erased(follower, run, stop)
                    continue
                if run.state == "running":
                    if await _extract(settings, run, follower, redis, stop, notice):
                        return run.state
                elif run.state == "cancelling":
                    await remove_results(settings, run, redis=redis, by=BY, notice=notice)
                await _changed(follower, run, stop)
    finally:
        await follower.stop()


async def _changed(follower: ControlFollower, run: Reextraction, stop: asyncio.Event) -> None:
    """Returns when the document has changed since, or the worker has to stop."""
    while not stop.is_set() and follower.state.reextractions.get(run.generation) == run:
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLL_S):
                await stop.wait()


async def _erased(follower: ControlFollower, run: Reextraction, stop: asyncio.Event) -> None:
    """Returns when no erasure of the tenants is unfinished, the document has changed, or the worker has to stop."""
    while waits_for_erasure(Draft(follower.state), run) and follower.state.reextractions.get(run.generation) == run:
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLL_S):
                await stop.wait()
                return


async def _extract(
    settings: Settings,
    run: Reextraction,
    follower: ControlFollower,
    redis: GuardedRedis,
    stop: asyncio.Event,
    notice: Callable[[str], None],
) -> bool:
    """Extracts until the re-extraction is no longer running, its budget is used up, or the worker has to stop.

    Returns:
        Whether a signal or ``stop`` has stopped the worker.
    """
    spent = await read_spent(settings, run, redis=redis)
    metering = RunMetering(settings, run, follower, redis, spent)
    await metering.budget.begin()
    notice(f"extracting into generation {run.generation} for {', '.join(run.tenants[:5])}{' ...' if len(run.tenants) > 5 else ''}")
    async with _watching(settings, metering, follower, stop, notice):
        await serve_stage(
            "extraction",
            limited_settings(settings),
            metering.stop_stage,
            generation=run.generation,
            only=frozenset(run.tenants),
            metering=metering,
        )
    # The stage has taken over the handling of signals.
    stop_by(stop.set, grace_s=GRACE_S)
    writer = ControlWriter(settings=settings)
    if metering.used_up is not None:
        reason = metering.used_up
        _log.warning("reextraction_budget_used_up", generation=run.generation, reason=reason)
        notice(f"paused: {reason}")
        with suppress(ChangeRefusedError):  # it was cancelled meanwhile
            await writer.write(lambda draft: pause_reextraction(draft, run.generation, reason=reason), action="reextraction pause", by=BY)
    elif metering.is_done:
        await writer.write(lambda draft: end_reextraction(draft, run.generation), action="reextraction end", by=BY)
        with suppress(RedisUnavailableError):
            await forget_total(redis, run.generation)
        notice(f"every tenant is live on generation {run.generation}: done")
    return not (metering.used_up is not None or metering.is_done or metering.is_changed)


def limited_settings(settings: Settings) -> Settings:
    """The settings with half of each limit of the endpoints.

    The limits count the calls of all workers, also the live ones. A call under a smaller limit is made only while fewer calls run, so
    live calls never wait for it.
    """
    llm = settings.llm
    fallbacks = tuple(each.model_copy(update=_halved(each)) for each in llm.fallbacks)
    return settings.model_copy(update={"llm": llm.model_copy(update={**_halved(llm), "fallbacks": fallbacks})})


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
    """

    def __init__(self, settings: Settings, run: Reextraction, follower: ControlFollower, redis: GuardedRedis, spent: Spent) -> None:
        self.run = run
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
        self.budget = TotalBudget(
            name=run.generation,
            limit=self._limit,
            redis=redis,
            spent=spent,
            on_used_up=self._on_used_up,
            turn=self._next_call,
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
            busy: The stage. None: they go on.

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
        await self.budget.stop()

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
            except NotTakenUpError:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_PACE_S):
                        await self.stop_stage.wait()


def _stopping() -> TransientError:
    return TransientError("the re-extraction is being stopped", dependency="budget", retry_after=1.0, counts_as_attempt=False)


@asynccontextmanager
async def _watching(
    settings: Settings, metering: RunMetering, follower: ControlFollower, stop: asyncio.Event, notice: Callable[[str], None]
) -> AsyncIterator[None]:
    """Stops the stage as soon as it may not go on, and measures, for the length of a block."""
    tasks = [
        asyncio.create_task(_watch_state(metering, follower, stop)),
        asyncio.create_task(_measure(settings, metering, follower, notice)),
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await metering.close()


async def _watch_state(metering: RunMetering, follower: ControlFollower, stop: asyncio.Event) -> None:
    run, position = metering.run, -1
    while not metering.stop_stage.is_set():
        now = follower.state.reextractions.get(run.generation)
        if now is None or now.state != "running" or now.budget.calls_per_minute != run.budget.calls_per_minute:
            metering.is_changed = True
            break
        # Only a new record can begin an erasure.
        if position != follower.state.position and waits_for_erasure(Draft(follower.state), run):
            metering.is_changed = True
            break
        position = follower.state.position
        if stop.is_set():
            break
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLL_S):
                await stop.wait()
    await metering.stop()


async def _measure(settings: Settings, metering: RunMetering, follower: ControlFollower, notice: Callable[[str], None]) -> None:
    """Keeps the metrics and the priority of live traffic up to date, and notices the end."""
    run, gauges = metering.run, metrics()
    group, topic = workers_of(settings, run.generation), windows_topic(settings)
    switched = _Switched(settings)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        while True:
            try:
                left = sum((await offsets.lag(group, [topic])).values()) + (await read_parked(offsets, group, [topic])).count
                busy = await busy_stage(settings, offsets)
                if await switched.is_complete(offsets, group, topic, waiting=bool(waiting_tenants(Draft(follower.state), run))):
                    metering.is_done = True
                    await metering.stop()
                    return
            except KafkaUnavailableError as error:
                _log.warning("reextraction_not_measured", error=str(error))
            else:
                if metering.yield_to(busy):
                    notice(f"waiting for live traffic: {busy}")
                spent = metering.budget.spent
                gauges.reextraction_windows_left.labels(run.generation).set(left)
                gauges.reextraction_tokens.labels(run.generation).set(spent.amount.tokens)
                gauges.reextraction_cost.labels(run.generation).set(spent.amount.cost)
                gauges.reextraction_yielding.labels(run.generation).set(busy is not None)
            await asyncio.sleep(_MEASURE_S)


class _Switched:
    """Finds out when a re-extraction is done: every tenant is live on it, and windows that live workers had begun before are extracted.

    A live worker applies a switch after a lease at the latest. Windows up to the ends of that time may still lack the generation.
    """

    def __init__(self, settings: Settings) -> None:
        self._wait_s = settings.control.lease_s + 2 * _MEASURE_S
        self._seen_at: float | None = None
        self._target: dict[TopicPartition, int] | None = None

    async def is_complete(self, offsets: KafkaOffsets, group: str, topic: str, *, waiting: bool) -> bool:
        """Whether it is done."""
        if waiting:
            self._seen_at = self._target = None
            return False
        now = time.monotonic()
        self._seen_at = now if self._seen_at is None else self._seen_at
        if now - self._seen_at < self._wait_s:
            return False
        if self._target is None:
            self._target = await offsets.end_offsets([topic])
        committed = await offsets.committed_offsets(group, [topic])
        is_reached = all(committed.get(partition, 0) >= end for partition, end in self._target.items())
        return is_reached and not (await read_parked(offsets, group, [topic])).count
