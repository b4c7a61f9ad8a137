"""Repeated work of an operator: dead letters driven again, and stages replayed. Nothing may count twice."""

import asyncio
import re
import signal
from collections.abc import Sequence

from tests.chaos.restarted_process import RestartedProcess
from tests.chaos.run import STALL_S, FaultContext, Injection
from varve.lag import wait_for_zero_lag

_KILL_WITHIN_S = 4.0


def redrive_then_replay(stages: Sequence[str]) -> Injection:
    """Drives again what was driven before, then replays each stage from its topic's beginning; its worker is killed at work."""

    async def inject(context: FaultContext) -> None:
        settings = context.cluster.settings
        _, output = await context.cluster.command("dlq", "redrive", "--tenant", context.tenant, "--again")
        driven = re.match(r"(\d+) redriven, \d+ superseded[^,]*, 0 refused", output)
        context.expect(driven is not None and int(driven[1]) > 0, f"no letter was driven again: {output}")
        await wait_for_zero_lag(settings, stall_s=STALL_S)
        for stage in stages:
            worker = context.cluster.workers[stage][0]
            async with worker.held_down(signal.SIGTERM):
                code, output = await context.cluster.command("replay", stage)
            context.expect(code == 0 and "they continue from there" in output, f"{stage} was not set back: {output}")
            await _kill(context, worker)
            await context.cluster.ready()
            await wait_for_zero_lag(settings, stall_s=STALL_S)

    return inject


async def _kill(context: FaultContext, worker: RestartedProcess) -> None:
    await asyncio.sleep(context.rng.uniform(0.2, _KILL_WITHIN_S))
    worker.send_signal(signal.SIGKILL)
