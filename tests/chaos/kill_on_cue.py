"""Workers that die at a chosen step of a batch or of a take-over, as a process does that is killed there."""

import asyncio
import signal
from typing import Final

from streams.stages.catalog import STAGES
from tests.chaos.cues import BATCH_CUES, TAKE_OVER_CUES
from tests.chaos.run import FaultContext, Injection

CUES: Final = (*TAKE_OVER_CUES, *BATCH_CUES)

_DEADLINE_S = 45.0
_VISITS = 4


def kill_at(cue: str, *, times: int = 3) -> Injection:
    """Kills workers at a step, one after the other, each of a random stage and at a random visit of the step."""

    async def inject(context: FaultContext) -> None:
        # The index stage produces nothing, and recalls little: they do not come to that step, or not in time.
        stages = [stage for stage in STAGES if not (cue == "sent" and stage in ("index", "recalls"))]
        for stage in context.rng.sample(stages, times):
            await context.cluster.ready()
            await _kill(context, stage, cue)

    return inject


async def _kill(context: FaultContext, stage: str, cue: str) -> None:
    worker = context.cluster.workers[stage][0]
    before = len(worker.exits)
    cues = context.cluster.cue_file(worker.name)
    cues.set(cue, visit=context.rng.randint(1, _VISITS))
    if cue in TAKE_OVER_CUES:
        # Its successor takes over, and dies at it.
        worker.send_signal(signal.SIGKILL)
        before += 1
    try:
        async with asyncio.timeout(_DEADLINE_S):
            code = await worker.exited_since(before)
    except TimeoutError:
        context.expect(False, f"the {stage} worker never came to {cue}")
    else:
        context.expect(code == -signal.SIGKILL, f"the {stage} worker ended with {code} before it came to {cue}")
    finally:
        cues.clear()
