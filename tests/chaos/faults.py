"""What goes wrong: each fault by name."""

import asyncio
import signal
from collections.abc import Callable

from streams.stages import STAGES
from tests.chaos.kept_process import KeptProcess
from tests.chaos.run import Break, Fault, Scene

PickProcess = Callable[[Scene], KeptProcess]


def killed(pick: PickProcess, *, times: int = 3, within_s: float = 8.0) -> Break:
    """kill -9, several times, each after a random while: also while the process still recovers."""

    async def breaks(scene: Scene) -> None:
        for _ in range(times):
            await asyncio.sleep(scene.rng.uniform(1.0, within_s))
            pick(scene).send(signal.SIGKILL)

    return breaks


def _worker_of(stage: str) -> PickProcess:
    return lambda scene: scene.cluster.workers[stage][0]


FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        *(Fault(name=f"kill-{stage}", breaks=killed(_worker_of(stage))) for stage in STAGES),
        Fault(name="kill-broker", breaks=killed(lambda scene: scene.cluster.broker, times=2)),
    )
}
