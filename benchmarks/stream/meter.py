"""Measures how fast a consumer group gets through a topic, by what it has committed: what counts is what is safe."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import psutil

from runtime.kafka import KafkaOffsets
from runtime.settings import Settings

_POLL_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Speed:
    """How a group got through a topic."""

    records: int
    """Between the first commit seen and the last."""
    seconds: float
    cpu_seconds: float
    """User and system, of the process alone, in that time."""
    memory_mb: float
    """Resident, at the end."""

    @property
    def per_second(self) -> float:
        """Records a second."""
        return self.records / self.seconds

    @property
    def cpu_us(self) -> float:
        """CPU time of the process for one record, in microseconds: it hardly depends on what else the machine does."""
        return self.cpu_seconds / self.records * 1e6


def environment(settings: Settings, **more: str) -> dict[str, str]:
    """The environment that gives a child the same settings."""
    return {
        **os.environ,
        "VARVE_DATA": str(settings.data),
        "VARVE_KAFKA__BOOTSTRAP": settings.kafka.bootstrap,
        "VARVE_KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
        "VARVE_REDIS__URL": settings.redis.url,
        "VARVE_LOG__LEVEL": "warning",
        **more,
    }


@asynccontextmanager
async def process(arguments: Sequence[str], env: Mapping[str, str]) -> AsyncIterator[subprocess.Popen[bytes]]:
    """A Python process for the length of a block, its output kept for when it fails."""
    with tempfile.TemporaryFile() as output:
        child = await asyncio.to_thread(subprocess.Popen, [sys.executable, *arguments], env=dict(env), stdout=output, stderr=output)
        try:
            yield child
            if child.poll() is not None:
                output.seek(0)
                raise RuntimeError(f"{' '.join(arguments)} ended with {child.returncode}:\n{output.read()[-4000:].decode()}")
        finally:
            child.terminate()
            await asyncio.to_thread(child.wait)


async def measure(group: str, topic: str, child: subprocess.Popen[bytes], settings: Settings, *, timeout_s: float) -> Speed:
    """Waits until a group has committed a topic to its end.

    Args:
        group: The consumer group.
        topic: The topic, filled before.
        child: The process that reads it.
        settings: Where Kafka is.
        timeout_s: When to give up, in seconds.

    Raises:
        RuntimeError: If the process ends.
        TimeoutError: If it takes too long.
    """
    async with KafkaOffsets(kafka=settings.kafka) as offsets, asyncio.timeout(timeout_s):
        total = sum((await offsets.end_offsets([topic])).values())
        first: tuple[float, int, float] | None = None
        watched = psutil.Process(child.pid)
        while True:
            done = sum((await offsets.committed_offsets(group, [topic])).values())
            now = time.perf_counter()
            if done and first is None:
                first = (now, done, _cpu(watched))
            if first is not None and done >= total:
                return Speed(total - first[1], now - first[0], _cpu(watched) - first[2], watched.memory_info().rss / 1e6)
            if child.poll() is not None:
                raise RuntimeError(f"the worker ended with {child.returncode} at {done} of {total}")
            await pause()


async def pause() -> None:
    """The time between two looks at what is measured: short against it, and long enough to cost it little."""
    await asyncio.sleep(_POLL_S)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
