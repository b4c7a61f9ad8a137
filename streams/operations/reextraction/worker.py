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
from control.generations.reextraction_changes import (
    end_reextraction,
    pause_reextraction,
    reextraction_of,
    waiting_tenants,
    waits_for_erasure,
)
from control.reextraction import Reextraction, State
from models.llm.total_budget import forget_total
from runtime.background import set_within
from runtime.clocks import Clock
from runtime.errors import KafkaUnavailableError, RedisUnavailableError
from runtime.interruption import GRACE_S, stop_by
from runtime.kafka import KafkaOffsets, TopicPartition
from runtime.kafka.parked_note import read_parked
from runtime.logs import logger
from runtime.metrics import metrics
from runtime.redis.client import GuardedRedis, open_redis
from runtime.settings import Settings
from streams.operations.reextraction.cancelling import remove_results
from streams.operations.reextraction.day_waits import RENEWAL_S
from streams.operations.reextraction.metering import RunMetering, limited_settings
from streams.operations.reextraction.priority import busy_stage
from streams.operations.reextraction.progress import position_in, read_spent, windows_left
from streams.run import serve_stage

_log = logger(__name__)

BY: Final = "the re-extraction's worker"
_POLL_S: Final = 0.25
_MEASURE_S: Final = 2.0


async def work(
    settings: Settings,
    generation: str,
    *,
    stop: asyncio.Event | None = None,
    wait: bool = False,
    notice: Callable[[str], None] = lambda line: None,
    clock: Clock | None = None,
) -> State:
    """Works on a re-extraction until it is paused, cancelled or done.

    Args:
        settings: The settings of the worker: its model and prices.
        generation: The generation that it builds.
        stop: Ends the work when it is set; the re-extraction stays as it is.
        wait: Whether to wait for the resumption of a paused re-extraction, instead of ending.
        notice: Called with lines of progress.
        clock: The clock of the daily budgets. Default: the machine's.

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
            return await _Worker(settings, generation, follower, redis, stop, notice, clock).run(wait=wait)
    finally:
        await follower.stop()


class _Worker:
    """The worker of one re-extraction; arguments as :func:`work`."""

    def __init__(
        self,
        settings: Settings,
        generation: str,
        follower: ControlFollower,
        redis: GuardedRedis,
        stop: asyncio.Event,
        notice: Callable[[str], None],
        clock: Clock | None,
    ) -> None:
        self._settings = settings
        self._generation = generation
        self._follower = follower
        self._redis = redis
        self._stop = stop
        self._notice = notice
        self._clock = clock

    async def run(self, *, wait: bool) -> State:
        while True:
            run = reextraction_of(Draft(self._follower.state), self._generation)
            if self._stop.is_set() or run.state in ("cancelled", "done") or (run.state == "paused" and not wait):
                return run.state
            if run.state == "running" and self._waits_for_erasure(run):
                self._notice("waiting for an erasure to finish")
                await self._erased(run)
                continue
            if run.state == "running":
                if await self._extract(run):
                    return run.state
            elif run.state == "cancelling":
                await remove_results(self._settings, run, redis=self._redis, by=BY, notice=self._notice)
            await self._changed(run)

    def _is_current(self, run: Reextraction) -> bool:
        """Whether the control log has not changed the re-extraction since."""
        return self._follower.state.reextractions.get(run.generation) == run

    def _waits_for_erasure(self, run: Reextraction) -> bool:
        return waits_for_erasure(Draft(self._follower.state), run)

    async def _changed(self, run: Reextraction) -> None:
        """Returns when the re-extraction has changed, or the worker has to stop."""
        while not self._stop.is_set() and self._is_current(run):
            await set_within(self._stop, _POLL_S)

    async def _erased(self, run: Reextraction) -> None:
        """Returns when no erasure of the tenants is unfinished, the re-extraction has changed, or the worker has to stop."""
        while self._waits_for_erasure(run) and self._is_current(run):
            if await set_within(self._stop, _POLL_S):
                return

    async def _extract(self, run: Reextraction) -> bool:
        """Extracts until the re-extraction is no longer running, its budget is used up, or the worker has to stop.

        Returns:
            Whether a signal or ``stop`` has stopped the worker.
        """
        settings = self._settings
        spent = await read_spent(settings, run, redis=self._redis)
        metering = RunMetering(settings, run, self._follower, self._redis, spent, clock=self._clock)
        await metering.budget.total.begin()
        tenants = f"{', '.join(run.tenants[:5])}{' ...' if len(run.tenants) > 5 else ''}"
        self._notice(f"extracting into generation {run.generation} for {tenants}")
        async with self._watching(metering):
            await serve_stage(
                "extraction",
                limited_settings(settings),
                metering.stop_stage,
                generation=run.generation,
                only=frozenset(run.tenants),
                metering=metering,
            )
        # The stage has taken over the handling of signals.
        stop_by(self._stop.set, grace_s=GRACE_S)
        if metering.used_up is not None:
            await self._pause(run, metering.used_up)
        elif metering.is_done:
            await self._end(run)
        return not (metering.used_up is not None or metering.is_done or metering.is_changed)

    async def _pause(self, run: Reextraction, reason: str) -> None:
        _log.warning("reextraction_budget_used_up", generation=run.generation, reason=reason)
        self._notice(f"paused: {reason}")
        writer = ControlWriter(settings=self._settings)
        with suppress(ChangeRefusedError):  # it was cancelled meanwhile
            await writer.write(lambda draft: pause_reextraction(draft, run.generation, reason=reason), action="reextraction pause", by=BY)

    async def _end(self, run: Reextraction) -> None:
        writer = ControlWriter(settings=self._settings)
        ended = await writer.write(lambda draft: end_reextraction(draft, run.generation), action="reextraction end", by=BY)
        if ended.result.state == "done":  # it was not cancelled meanwhile
            with suppress(RedisUnavailableError):
                await forget_total(self._redis, run.generation)
            self._notice(f"every tenant was switched to generation {run.generation}: done")

    @asynccontextmanager
    async def _watching(self, metering: RunMetering) -> AsyncIterator[None]:
        """Stops the stage when it may not continue, and measures, for the length of a block."""
        tasks = [
            asyncio.create_task(self._watch_state(metering)),
            asyncio.create_task(self._measure(metering)),
            asyncio.create_task(_renew_waits(metering)),
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await metering.close()

    async def _watch_state(self, metering: RunMetering) -> None:
        run, position, follower = metering.run, -1, self._follower
        while not metering.stop_stage.is_set():
            now = follower.state.reextractions.get(run.generation)
            if now is None or now.state != "running" or now.budget.calls_per_minute != run.budget.calls_per_minute:
                metering.is_changed = True
                break
            # Only a new record can begin an erasure.
            if position != follower.state.position and self._waits_for_erasure(run):
                metering.is_changed = True
                break
            position = follower.state.position
            if self._stop.is_set():
                break
            await set_within(self._stop, _POLL_S)
        await metering.stop()

    async def _measure(self, metering: RunMetering) -> None:
        """Keeps the metrics and the priority of live traffic up to date, and notices the end."""
        settings, run, gauges = self._settings, metering.run, metrics()
        group, topic = workers_of(settings, run.generation), windows_topic(settings)
        switched = _Switched(settings)
        async with KafkaOffsets(kafka=settings.kafka) as offsets:
            while True:
                try:
                    left = await _windows_left(offsets, run, group, topic)
                    busy = await busy_stage(settings, offsets)
                    known = Draft(self._follower.state)
                    now = known.reextraction(run.generation) or run
                    if await switched.is_complete(offsets, group, topic, waiting=bool(waiting_tenants(known, now))):
                        metering.is_done = True
                        await metering.stop()
                        return
                except KafkaUnavailableError as error:
                    _log.warning("reextraction_not_measured", error=str(error))
                else:
                    if metering.yield_to(busy):
                        self._notice(f"waiting for live traffic: {busy}")
                    spent = metering.budget.total.spent
                    gauges.reextraction_windows_left.labels(run.generation).set(left)
                    gauges.reextraction_tokens.labels(run.generation).set(spent.amount.tokens)
                    gauges.reextraction_cost.labels(run.generation).set(spent.amount.cost)
                    gauges.reextraction_yielding.labels(run.generation).set(busy is not None)
                await asyncio.sleep(_MEASURE_S)


async def _windows_left(offsets: KafkaOffsets, run: Reextraction, group: str, topic: str) -> int:
    ends, committed = await offsets.end_offsets([topic]), await offsets.committed_offsets(group, [topic])
    parked = (await read_parked(offsets, group, [topic])).count
    return windows_left(run, position=position_in(ends, committed), end=sum(ends.values())) + parked


async def _renew_waits(metering: RunMetering) -> None:
    while True:
        await asyncio.sleep(RENEWAL_S)
        await metering.budget.renew_waits(metering.clock.now())


class _Switched:
    """Finds out when a re-extraction is done: every tenant was switched, and windows that live workers had begun before are extracted.

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
