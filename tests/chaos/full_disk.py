"""A full disk for a stage's tables: the kernel limits the size of its worker's files (``RLIMIT_FSIZE``)."""

import asyncio
import contextlib

import psutil

from tests.chaos.run import FaultContext, Injection

_LARGEST_FILE = 48 * 1024
_POLL_S = 0.25


def fill_disk(stage: str, *, seconds: float) -> Injection:
    """For a while no write-ahead log of the stage's tables can grow. The worker must exit each time, and dead-letter nothing."""

    async def inject(context: FaultContext) -> None:
        worker = context.cluster.workers[stage][0]
        before = len(worker.exits)
        try:
            async with asyncio.timeout(seconds):
                while True:
                    _limit(worker.pid, _LARGEST_FILE)
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            _limit(worker.pid, psutil.RLIM_INFINITY)
        context.expect(len(worker.exits) > before, f"the disk of {stage} was never full: raise the load")

    return inject


def _limit(pid: int | None, largest_file: int) -> None:
    if pid is not None:
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(pid).rlimit(psutil.RLIMIT_FSIZE, (largest_file, psutil.RLIM_INFINITY))
