"""The throughput of the sessions and the entities stage as a ratio of plain Faust's, on one broker, one after the other."""

import asyncio
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.processes import POLL_S, cpu_seconds, environment, python_process, resident_bytes
from benchmarks.stream.load import SCHEMA, TENANT, contributions, fill, messages
from benchmarks.stream.stage import isolated_settings
from runtime.kafka import KafkaOffsets
from runtime.settings import Settings

_TIMEOUT_S: Final = 300.0


@dataclass(frozen=True, slots=True)
class Throughput:
    """Throughput of a group on a topic."""

    records: int
    seconds: float
    """Seconds between the first and the last observed commit."""
    cpu_seconds: float
    """CPU time of the process (user and system) in these seconds."""
    memory_mb: float
    """Resident memory at the end."""

    @property
    def per_second(self) -> float:
        """Records per second."""
        return self.records / self.seconds

    @property
    def cpu_us(self) -> float:
        """CPU microseconds per record, nearly independent of the machine's other load."""
        return self.cpu_seconds / self.records * 1e6


async def measure_throughput(group: str, topic: str, child: subprocess.Popen[bytes], settings: Settings) -> Throughput:
    """Waits until a group has committed a topic to its end.

    Args:
        group: The consumer group.
        topic: A topic with all its records.
        child: The consumer's process.
        settings: The settings with Kafka's address.

    Raises:
        RuntimeError: If the process ends.
        TimeoutError: If it takes too long.
    """
    async with KafkaOffsets(kafka=settings.kafka) as offsets, asyncio.timeout(_TIMEOUT_S):
        total = sum((await offsets.end_offsets([topic])).values())
        first: tuple[float, int, float] | None = None
        while True:
            committed = sum((await offsets.committed_offsets(group, [topic])).values())
            now = time.perf_counter()
            if committed and first is None:
                first = (now, committed, _cpu_s(child))
            if first is not None and committed >= total:
                return Throughput(total - first[1], now - first[0], _cpu_s(child) - first[2], resident_bytes(child.pid) / 1e6)
            if child.poll() is not None:
                raise RuntimeError(f"the worker ended with {child.returncode} after {committed} of {total}")
            await asyncio.sleep(POLL_S)


def _cpu_s(child: subprocess.Popen[bytes]) -> float:
    return cpu_seconds({"": child.pid})[""]


async def _passthrough(base: Settings, folder: Path, count: int, sessions: int) -> Throughput:
    """Measures plain Faust."""
    settings = await isolated_settings(base, folder)
    topic = settings.topic("messages")
    await fill(topic, messages(count, sessions), settings)
    async with python_process(["-m", "benchmarks.stream.passthrough", "passthrough", topic], environment(settings)) as child:
        return await measure_throughput("passthrough", topic, child, settings)


async def _sessions_stage(base: Settings, folder: Path, count: int, sessions: int) -> Throughput:
    """Measures the whole sessions stage: state, changelog, windows, tails, commits."""
    settings = await isolated_settings(base, folder, **{TENANT: SCHEMA})
    topic = settings.topic("messages")
    await fill(topic, messages(count, sessions), settings)
    async with python_process(["-m", "varve", "worker", "sessions"], environment(settings)) as child:
        return await measure_throughput(settings.topic("sessions"), topic, child, settings)


async def _entities_stage(base: Settings, folder: Path, count: int, entities: int) -> Throughput:
    """Measures the whole entities stage, with COUNT and SUM: state, changelog, the change feed, commits."""
    settings = await isolated_settings(base, folder, **{TENANT: SCHEMA})
    topic = settings.topic("contributions")
    await fill(topic, contributions(count, entities, settings), settings)
    async with python_process(["-m", "varve", "worker", "entities"], environment(settings)) as child:
        return await measure_throughput(settings.topic("entities"), topic, child, settings)


async def ratios(base: Settings, folder: Path, *, count: int, keys: int, rounds: int) -> dict[str, object]:
    """Runs the three in turn, ``rounds`` times, and compares the medians.

    Args:
        base: The settings with the addresses of Kafka and Redis.
        folder: The folder for tables, up to some hundred megabytes.
        count: Records per run.
        keys: Number of sessions or entities.
        rounds: Runs of each; the medians are compared.

    Returns:
        ``ratio_sessions`` and ``ratio_entities``, with their inputs.
    """
    runs: dict[str, list[Throughput]] = {"passthrough": [], "sessions": [], "entities": []}
    for _ in range(rounds):
        runs["passthrough"].append(await _passthrough(base, folder, count, keys))
        runs["sessions"].append(await _sessions_stage(base, folder, count, keys))
        runs["entities"].append(await _entities_stage(base, folder, count, keys))
    median = {name: statistics.median(run.per_second for run in each) for name, each in runs.items()}
    return {
        "ratio_sessions": round(median["sessions"] / median["passthrough"], 3),
        "ratio_entities": round(median["entities"] / median["passthrough"], 3),
        "records_per_second": {name: [round(run.per_second) for run in each] for name, each in runs.items()},
        "cpu_us_per_record": {name: [round(run.cpu_us, 1) for run in each] for name, each in runs.items()},
        "resident_mb": {name: [round(run.memory_mb) for run in each] for name, each in runs.items()},
        "records": count,
        "keys": keys,
    }
