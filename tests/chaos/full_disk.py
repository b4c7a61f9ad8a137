"""A disk with no room left for a stage's tables: files of its worker cannot grow beyond a limit that the kernel holds."""

import asyncio
import contextlib

import psutil

from tests.chaos.run import Break, Scene

_LARGEST_FILE = 48 * 1024
_NEW_RUN_S = 0.25


def disk_full(stage: str, *, seconds: float) -> Break:
    """For a while no write-ahead log of the stage's tables can grow, whatever worker is started; it must leave, and blame no record."""

    async def breaks(scene: Scene) -> None:
        worker = scene.cluster.workers[stage][0]
        before = len(worker.exits)
        try:
            async with asyncio.timeout(seconds):
                while True:
                    _limit(worker.pid, _LARGEST_FILE)
                    await asyncio.sleep(_NEW_RUN_S)
        except TimeoutError:
            _limit(worker.pid, psutil.RLIM_INFINITY)
        scene.expect(len(worker.exits) > before, f"the disk of {stage} was never full: raise the load")

    return breaks


def _limit(pid: int | None, largest_file: int) -> None:
    if pid is not None:
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(pid).rlimit(psutil.RLIMIT_FSIZE, (largest_file, psutil.RLIM_INFINITY))
