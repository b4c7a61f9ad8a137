"""A worker of a stage in a separate process: started, measured, killed."""

import asyncio
import re
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import httpx
import psutil

from benchmarks.processes import POLL_S, environment, running_process
from control import ControlWriter, Draft
from control.tenant_changes import add_tenant
from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Profile
from runtime.kafka import create_topics
from runtime.settings import Settings
from varve.embedded.edge import EmbeddedEdge
from varve.embedded.ports import HOST, free_port
from varve.supervisor.process import ManagedProcess, ProcessSpec

_START_S: Final = 300.0
_DONE: Final = re.compile(rb'^varve_records_total\{outcome="done",stage="\w+"\} (\S+)$', re.MULTILINE)


async def isolated_settings(base: Settings, folder: Path, **tenants: str) -> Settings:
    """Settings with new topics and a new data folder; creates the topics."""
    name = uuid4().hex[:8]
    data = folder / name
    data.mkdir()
    settings = base.model_copy(update={"data": data, "kafka": base.kafka.model_copy(update={"topic_prefix": f"b{name}."})})
    await create_topics(settings)

    def add_all(draft: Draft) -> None:
        for tenant, schema in tenants.items():
            add_tenant(draft, tenant, schema=schema)

    await ControlWriter(settings=settings).write(add_all, action="tenants of a benchmark", by="a benchmark")
    return settings


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """The CPU time and memory of a process."""

    cpu_seconds: float
    """CPU time, user and system."""
    resident_mb: float


class StageWorker:
    """A worker of one stage."""

    def __init__(self, stage: str, settings: Settings, **extra: str) -> None:
        self._port = free_port()
        self._client = httpx.AsyncClient(base_url=f"http://{HOST}:{self._port}", timeout=10.0)
        self._process = ManagedProcess(
            ProcessSpec(
                name=stage,
                command=(sys.executable, "-m", "varve", "worker", stage),
                environment=environment(settings, VARVE_METRICS_HOST=HOST, VARVE_METRICS_PORT=str(self._port), **extra),
                log=settings.data / f"{stage}.log",
                ready=self._is_ready,
                start_deadline_s=_START_S,
            )
        )

    async def start(self) -> None:
        """Starts it and waits until it is ready: its partitions assigned, their state recovered."""
        await self._process.start()

    async def kill(self) -> None:
        """Kills it with SIGKILL."""
        self._process.signal(signal.SIGKILL)
        await self._process.wait_ended()

    async def close(self) -> None:
        """Kills it and closes the client."""
        await self.kill()
        await self._process.stop()
        await self._client.aclose()

    async def records_done(self) -> int:
        """The records it has acknowledged since its start: their outputs are durable."""
        match = _DONE.search((await self._client.get("/metrics")).content)
        return int(float(match[1])) if match else 0

    async def wait_until_done(self, count: int, *, timeout_s: float) -> float:
        """Waits until it has acknowledged ``count`` records since its start.

        Returns:
            The wall-clock time, in seconds since the epoch.

        Raises:
            RuntimeError: If the worker ends before.
            TimeoutError: If it takes too long.
        """
        deadline = time.monotonic() + timeout_s
        done = 0
        while done < count:
            if self._process.pid is None:
                raise RuntimeError(str(self._process.failure("the worker ended")))
            with suppress(httpx.TransportError):
                done = await self.records_done()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{done} of {count} records done in {timeout_s:g} s")
            await asyncio.sleep(POLL_S)
        return time.time()

    def resource_usage(self) -> ResourceUsage:
        """Its resource usage since its start."""
        process = psutil.Process(self._process.pid)
        times = process.cpu_times()
        return ResourceUsage(times.user + times.system, process.memory_info().rss / 1e6)

    async def _is_ready(self) -> bool:
        try:
            return (await self._client.get("/readyz")).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False


@asynccontextmanager
async def stage_worker(stage: str, settings: Settings, **extra: str) -> AsyncIterator[StageWorker]:
    """Runs a worker during a block, which begins when it is ready; kills it at the end."""
    worker = StageWorker(stage, settings, **extra)
    try:
        await worker.start()
        yield worker
    finally:
        await worker.close()


def topic_bytes(folder: Path, topic: str) -> int:
    """The size of a topic's log segments on the broker's disk: everything sent to it, as long as nothing was compacted or expired."""
    return sum(log.stat().st_size for log in folder.rglob(f"{topic}-[0-9]*/*.log"))


@asynccontextmanager
async def simulated_model(settings: Settings, *, call_s: float) -> AsyncIterator[dict[str, str]]:
    """Runs an Edge process and a model for the extraction during a block; yields the worker's environment.

    Answers are not kept: benchmarks send the same prompts several times, and kept answers would save the calls.

    Args:
        settings: The settings of the stage.
        call_s: Seconds that a call takes.
    """
    edge = EmbeddedEdge(data=settings.data / "edge", socket_path=settings.edge_socket, log=settings.data / "edge.log")
    async with LLMSimulator(profile=Profile(first_token_s=call_s)) as llm, running_process(edge.prepare()):
        yield {"VARVE_LLM__BASE_URL": llm.base_url, "VARVE_LLM__MODEL": "simulated", "VARVE_LLM__CACHE_TTL_S": "0"}
