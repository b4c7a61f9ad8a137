"""Measures a consumer group's throughput by its commits: what is committed is safe."""

import asyncio
import subprocess
import time
from dataclasses import dataclass

import psutil

from benchmarks.processes import POLL_S
from runtime.kafka import KafkaOffsets
from runtime.settings import Settings


@dataclass(frozen=True, slots=True)
class Throughput:
    """How a group consumed a topic."""

    records: int
    """Between the first commit seen and the last."""
    seconds: float
    cpu_seconds: float
    """User and system, of the process alone, in these seconds."""
    memory_mb: float
    """Resident, at the end."""

    @property
    def per_second(self) -> float:
        """Records a second."""
        return self.records / self.seconds

    @property
    def cpu_us(self) -> float:
        """CPU microseconds per record, nearly independent of the machine's other load."""
        return self.cpu_seconds / self.records * 1e6


async def measure_throughput(group: str, topic: str, child: subprocess.Popen[bytes], settings: Settings, *, timeout_s: float) -> Throughput:
    """Waits until a group has committed a topic to its end.

    Args:
        group: The consumer group.
        topic: A topic that holds all its records already.
        child: The consumer's process.
        settings: Where Kafka is.
        timeout_s: The longest wait, in seconds.

    Raises:
        RuntimeError: If the process ends.
        TimeoutError: If it takes too long.
    """
    async with KafkaOffsets(kafka=settings.kafka) as offsets, asyncio.timeout(timeout_s):
        total = sum((await offsets.end_offsets([topic])).values())
        first: tuple[float, int, float] | None = None
        watched = psutil.Process(child.pid)
        while True:
            committed = sum((await offsets.committed_offsets(group, [topic])).values())
            now = time.perf_counter()
            if committed and first is None:
                first = (now, committed, _cpu(watched))
            if first is not None and committed >= total:
                return Throughput(total - first[1], now - first[0], _cpu(watched) - first[2], watched.memory_info().rss / 1e6)
            if child.poll() is not None:
                raise RuntimeError(f"the worker ended with {child.returncode} after {committed} of {total}")
            await asyncio.sleep(POLL_S)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
