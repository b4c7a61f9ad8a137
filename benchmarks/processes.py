"""The processes of a benchmark: a real broker, Redis, and Python programs with their settings."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from runtime.settings import Settings
from varve.embedded import jars
from varve.embedded.kafka import ONE_PLAIN_NODE, EmbeddedKafka
from varve.embedded.redis import EmbeddedRedis
from varve.supervisor.process import ManagedProcess, ProcessSpec

POLL_S: Final = 0.1
"""Interval between two readings: long enough to cost the measured process little."""


@dataclass(frozen=True, slots=True)
class Servers:
    """A running broker and Redis."""

    settings: Settings
    """The settings with their addresses."""
    pids: Mapping[str, int]
    """Process ids by name."""


@asynccontextmanager
async def broker_and_redis(folder: Path) -> AsyncIterator[Servers]:
    """Starts both on free ports, their data under ``folder``."""
    settings = Settings()
    jars.fetch(settings.cache_path)
    broker = EmbeddedKafka(data=folder / "kafka", cache=settings.cache_path)
    redis = EmbeddedRedis(data=folder / "redis")
    async with AsyncExitStack() as resources:
        pids = {spec.name: await resources.enter_async_context(running_process(spec)) for spec in (broker.prepare(), redis.prepare())}
        found = settings.model_copy(
            update={
                "data": folder,
                "kafka": settings.kafka.model_copy(update={"bootstrap": broker.bootstrap, **ONE_PLAIN_NODE}),
                "redis": settings.redis.model_copy(update={"url": redis.url}),
            }
        )
        yield Servers(found, pids)


@asynccontextmanager
async def running_process(spec: ProcessSpec) -> AsyncIterator[int]:
    """Runs a process during a block, which begins when it is ready; yields its id."""
    process = ManagedProcess(spec)
    await process.start()
    try:
        assert process.pid is not None
        yield process.pid
    finally:
        await process.stop()


def cpu_seconds(pids: Mapping[str, int]) -> dict[str, float]:
    """The computing time of each process so far, by name, in seconds of one core."""
    times = {name: psutil.Process(pid).cpu_times() for name, pid in pids.items()}
    return {name: each.user + each.system for name, each in times.items()}


def resident_bytes(pid: int) -> int:
    """The resident memory of a process, including mapped pages of files."""
    rss: int = psutil.Process(pid).memory_info().rss
    return rss


def environment(settings: Settings, **extra: str) -> dict[str, str]:
    """The environment that gives a child process these settings."""
    return {
        **os.environ,
        "VARVE_DATA": str(settings.data),
        "VARVE_KAFKA__BOOTSTRAP": settings.kafka.bootstrap,
        "VARVE_KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
        "VARVE_KAFKA__REPLICATION_FACTOR": str(settings.kafka.replication_factor),
        "VARVE_KAFKA__MIN_INSYNC_REPLICAS": str(settings.kafka.min_insync_replicas),
        "VARVE_REDIS__URL": settings.redis.url,
        "VARVE_LOG__LEVEL": "warning",
        **extra,
    }


@asynccontextmanager
async def python_process(arguments: Sequence[str], env: Mapping[str, str]) -> AsyncIterator[subprocess.Popen[bytes]]:
    """Runs Python during a block.

    Raises:
        RuntimeError: If it ended before the block; with the end of its output.
    """
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
