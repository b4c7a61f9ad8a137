"""Faults of stages with several workers: restarts, kills and many rebalances."""

import asyncio
import math
import signal
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final

from tests.chaos.restarted_process import RestartedProcess
from tests.chaos.run import FaultContext, Injection
from tests.chaos.takeover import partitions_of, summary, take_over_times

_PAUSE_S: Final = 2.0
"""Longest pause between two faults of workers: records arrive in their partitions."""
_JOINING_AT_ONCE: Final = 3
_STAY_S: Final = 1.0
"""Longest time that a ready worker stays before it leaves."""


def roll_all_workers(stages: Sequence[str]) -> Injection:
    """Each worker of each stage ends by SIGTERM, and starts again; the next one ends when it is ready."""

    async def inject(context: FaultContext) -> None:
        times: list[float] = []
        for stage in stages:
            for worker in context.cluster.workers[stage]:
                before = len(worker.exits)
                times += await _end_and_measure(context, stage, worker, signal.SIGTERM, is_restarted=True)
                context.expect(worker.exits[before] == 0, f"{worker.name} ended with {worker.exits[before]} on SIGTERM")
        context.measured["take_over_after_sigterm"] = summary(times)

    return inject


def kill_workers(stages: Sequence[str], *, times: int) -> Injection:
    """Kills workers of each stage, several times: half of them stay down until others have their partitions, half restart at once."""

    async def inject(context: FaultContext) -> None:
        gone: list[float] = []
        restarted: list[float] = []
        for number in range(times):
            for stage in stages:
                worker = context.rng.choice(context.cluster.workers[stage])
                measured = restarted if number % 2 else gone
                measured += await _end_and_measure(context, stage, worker, signal.SIGKILL, is_restarted=bool(number % 2))
        context.measured["take_over_after_sigkill"] = summary(gone)
        context.measured["take_over_by_restart"] = summary(restarted)

    return inject


def rebalance_often(stage: str, *, rebalances: int) -> Injection:
    """Workers join a stage and leave it all the time, until its group was rebalanced so often."""

    async def inject(context: FaultContext) -> None:
        changes = 0
        exits: list[int] = []

        async def join_and_leave() -> None:
            nonlocal changes
            while changes < rebalances:
                async with context.cluster.second_worker(stage) as worker:
                    changes += 1
                    await asyncio.sleep(context.rng.uniform(0.0, _STAY_S))
                changes += 1
                exits.extend(worker.exits)

        began = time.monotonic()
        async with asyncio.TaskGroup() as work:
            for _ in range(_JOINING_AT_ONCE):
                work.create_task(join_and_leave())
        context.expect(set(exits) == {0}, f"workers of {stage} left with {exits}")
        shown = context.measured.setdefault("rebalances", {})
        shown[stage] = {"joins_and_leaves": changes, "seconds": round(time.monotonic() - began, 1)}

    return inject


async def _end_and_measure(
    context: FaultContext, stage: str, worker: RestartedProcess, number: signal.Signals, *, is_restarted: bool
) -> list[float]:
    """Ends a worker by a signal; returns the take-over times of its partitions, once it is ready again."""
    await context.cluster.ready()
    await asyncio.sleep(context.rng.uniform(0.5, _PAUSE_S))
    partitions = await partitions_of(context.cluster, worker.name)
    down: AbstractAsyncContextManager[None] = nullcontext() if is_restarted else worker.no_restart()
    before = len(worker.exits)
    async with down:
        ended = time.monotonic()
        worker.send_signal(number)
        if number is not signal.SIGKILL:
            # Until it has ended, it finishes and commits what it has begun.
            await worker.wait_ended()
            ended = time.monotonic()
        times = await take_over_times(context.cluster, stage, partitions, ended=ended)
    await worker.exited_since(before)
    await worker.ready()
    late = sorted(partition for partition, seconds in times.items() if math.isinf(seconds))
    context.expect(not late, f"nobody took partitions {late} of {stage} over")
    return list(times.values())
