"""The service over a store of random memories: Kafka, Redis, the Edge owner and the service are real processes."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import aiohttp

from benchmarks.callers import Service
from benchmarks.processes import broker_and_redis, environment, python_process, running_process
from control import ControlWriter, Draft
from control.access_keys import hash_key, new_api_key
from control.key_changes import add_key
from control.tenant_changes import add_tenant
from evaluation.bench_recall import RandomData, fill
from models.embedding.weights import DIMENSION, LATE_DIMENSION, MODEL_NAME
from runtime.kafka import create_topics
from runtime.settings import Settings
from stores.edge.client import EdgeStore
from varve.embedded.edge import EmbeddedEdge
from varve.embedded.ports import HOST, free_port

EDGE_FOLDER: Final = "edge"
"""Name of the shard's folder in the folder of all data."""
SOCKET: Final = "edge.sock"
"""Name of its owner's socket there."""
_START_S: Final = 60.0


@asynccontextmanager
async def edge_owner(folder: Path) -> AsyncIterator[int]:
    """Runs the owner of an empty Edge shard during a block; yields its process id.

    Args:
        folder: The folder for its data and socket; its path must be short.
    """
    edge = EmbeddedEdge(data=folder / EDGE_FOLDER, socket_path=folder / SOCKET, log=folder / "edge.log")
    async with running_process(edge.prepare()) as pid:
        yield pid


@asynccontextmanager
async def running_service(
    folder: Path, *, points: int, tenants: int = 2, with_keys: int = 2, data: RandomData | None = None
) -> AsyncIterator[Service]:
    """Runs a service whose store holds random memories of tenants, during a block.

    Args:
        folder: The folder for all data; its path must be short, for the Edge's socket.
        points: Number of memories per tenant.
        tenants: Number of tenants: ``tenant-0`` and so on.
        with_keys: Number of tenants that the service knows.
        data: The memories of the tenants. None: events of seven users per tenant.
    """
    async with AsyncExitStack() as resources:
        servers = await resources.enter_async_context(broker_and_redis(folder))
        settings = servers.settings
        await create_topics(settings)
        keys = {f"tenant-{number}": new_api_key() for number in range(with_keys)}

        def add_all(draft: Draft) -> None:
            for tenant, key in keys.items():
                add_tenant(draft, tenant, schema="companion")
                add_key(draft, tenant, hash_key(key), now=datetime.now(UTC))

        began = time.perf_counter()
        await ControlWriter(settings=settings).write(add_all, action="tenants of a benchmark", by="a benchmark")
        seconds = {"control": round(time.perf_counter() - began, 2)}
        owner = await resources.enter_async_context(edge_owner(folder))
        store = EdgeStore(path=folder / SOCKET, timeout_s=60)
        await store.prepare(model=MODEL_NAME, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
        await fill(store, data or RandomData(seed=1, tenants=tenants), points * tenants)
        await store.close()
        port, health_port = free_port(), free_port()
        variables = environment(
            settings,
            VARVE_SERVICE__PORT=str(port),
            VARVE_METRICS_HOST=HOST,
            VARVE_METRICS_PORT=str(health_port),
            VARVE_CACHE=str(Settings().cache_path),
            VARVE_STORE__SOCKET=str(folder / SOCKET),
        )
        began = time.perf_counter()
        serving = await resources.enter_async_context(python_process(("-m", "varve", "serve"), variables))
        service = Service(
            url=f"http://{HOST}:{port}",
            keys=keys,
            pids={**servers.pids, "edge": owner, "service": serving.pid},
            health_url=f"http://{HOST}:{health_port}",
            settings=settings,
            seconds=seconds,
        )
        await _answers(service)
        seconds["service"] = round(time.perf_counter() - began, 2)
        yield service


async def _answers(service: Service) -> None:
    deadline = time.monotonic() + _START_S
    async with aiohttp.ClientSession() as http:
        while True:
            try:
                async with http.get(f"{service.url}/healthz"):
                    return
            except aiohttp.ClientConnectionError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.2)
