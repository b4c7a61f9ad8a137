"""Workers that die at a chosen step of a batch or of a take-over, as a process does that is killed there."""

import asyncio
import signal
from typing import Final

from streams.stages.catalog import STAGES
from tests.chaos.failpoints import BATCH_FAILPOINTS, TAKE_OVER_FAILPOINTS
from tests.chaos.run import FaultContext, Injection

FAILPOINTS: Final = (*TAKE_OVER_FAILPOINTS, *BATCH_FAILPOINTS)

_DEADLINE_S = 45.0
_VISITS = 4


def kill_at(failpoint: str, *, times: int = 3) -> Injection:
    """Kills workers at a step, one after the other, each of a random stage and at a random visit of the step."""

    async def inject(context: FaultContext) -> None:
        # The index stage produces nothing, and recalls little: they do not reach that step, or not in time.
        stages = [stage for stage in STAGES if not (failpoint == "sent" and stage in ("index", "recalls"))]
        for stage in context.rng.sample(stages, times):
            await context.cluster.ready()
            await _kill(context, stage, failpoint)

    return inject


async def _kill(context: FaultContext, stage: str, failpoint: str) -> None:
    worker = context.cluster.workers[stage][0]
    before = len(worker.exits)
    failpoints = context.cluster.failpoint_file(worker.name)
    failpoints.set(failpoint, visit=context.rng.randint(1, _VISITS))
    if failpoint in TAKE_OVER_FAILPOINTS:
        # Its successor takes over, and dies at it.
        worker.send_signal(signal.SIGKILL)
        before += 1
    try:
        async with asyncio.timeout(_DEADLINE_S):
            code = await worker.exited_since(before)
    except TimeoutError:
        context.expect(False, f"the {stage} worker never came to {failpoint}")
    else:
        context.expect(code == -signal.SIGKILL, f"the {stage} worker ended with {code} before it came to {failpoint}")
    finally:
        failpoints.clear()
