"""The whole of Varve as processes of this machine, each restarted when it ends, each open to faults."""

import asyncio
import itertools
import json
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from control.tenant_changes import set_tenant
from memory.keys import partition_of
from runtime.kafka import create_topics
from runtime.settings import (
    DeliverySettings,
    KafkaSettings,
    LLMSettings,
    RedisSettings,
    ServiceSettings,
    SessionSettings,
    Settings,
    SigningSettings,
    StoreSettings,
    TimelineSettings,
)
from streams.stages.catalog import STAGES
from tests.chaos.failpoints import FailpointFile
from tests.chaos.methods_schema import methods_schema
from tests.chaos.proxy import KafkaProxy, ProxiedKafka
from tests.chaos.qdrant_server import QdrantServer
from tests.chaos.restarted_process import RestartedProcess
from tests.chaos.schema import chaos_schema
from tests.chaos.shape import SINGLE, ClusterShape
from tests.chaos.three_brokers import brokers_registered, three_brokers
from tests.control_log import add_tenant, write
from varve.embedded import jars
from varve.embedded.edge import EmbeddedEdge
from varve.embedded.ports import HOST, free_port, listens
from varve.embedded.redis import EmbeddedRedis
from varve.supervisor.process import ProcessSpec

SECRET = "chaos has a secret of thirty-two characters"
START_DEADLINE_S = 240.0
STOP_DEADLINE_S = 60.0
PROBE_TIMEOUT_S = 2.0
TIMELINE_GRACE_S = 1.0
"""A timeline's timer fires in the pauses of the load."""


class Cluster:
    """Kafka, Redis, Qdrant Edge, the simulated LLM, the workers of all stages, and the query service.

    Args:
        folder: Holds all data and logs; its path must be short, for the Edge's socket.
        seed: Seed of the draws of the simulated LLM.
        shape: The number of its brokers, partitions and workers.
    """

    def __init__(self, *, folder: Path, seed: int, shape: ClusterShape = SINGLE) -> None:
        cache = Settings().cache_path
        jars.fetch(cache)
        self.folder = folder
        self.logs = folder / "logs"
        if shape.brokers > 1:
            nodes = three_brokers(folder, cache=cache, logs=self.logs)
        else:
            nodes = [ProxiedKafka(data=folder / "kafka", cache=cache, log=self.logs / "kafka.log")]
        server = EmbeddedRedis(data=folder / "redis", log=self.logs / "redis.log")
        edge = EmbeddedEdge(data=folder / "edge", socket_path=folder / "edge.sock", log=self.logs / "edge.log")
        is_server = QdrantServer.is_named() or shape.store_nodes > 1
        qdrant = QdrantServer(shape=shape, folder=folder, logs=self.logs) if is_server else None
        llm_port = free_port()
        self.settings = Settings(
            data=folder / "data",
            cache=cache.absolute(),
            kafka=KafkaSettings(
                bootstrap=",".join(node.bootstrap for node in nodes),
                partitions=shape.partitions,
                request_timeout_s=10.0,
                replication_factor=len(nodes),
                min_insync_replicas=min(2, shape.brokers),
                session_timeout_s=shape.session_timeout_s,
            ),
            redis=RedisSettings(url=server.url),
            store=StoreSettings(socket=edge.socket_path) if qdrant is None else qdrant.settings,
            sessions=SessionSettings(message_count=6, message_cap=10, idle_partition_s=4.0),
            delivery=DeliverySettings(retry_initial_interval_s=0.1, retry_maximum_interval_s=2.0, breaker_reset_s=1.0),
            llm=LLMSettings(base_url=f"http://{HOST}:{llm_port}/v1", model="simulated", first_token_timeout_s=4.0, timeout_s=20.0),
            timelines=TimelineSettings(grace_s=TIMELINE_GRACE_S),
            service=ServiceSettings(host=HOST, port=free_port()),
            signing=SigningSettings(secret=SecretStr(SECRET)),
        )
        self._metrics_urls: dict[str, str] = {}
        self.extra_environment: dict[str, dict[str, str]] = {}
        """Variables that a worker gets in addition to the settings, by the name of its process."""
        self.proxy: KafkaProxy = nodes[0].proxy
        self.brokers = [RestartedProcess(f"kafka-{number}", node.prepare) for number, node in enumerate(nodes, 1)]
        self.redis = RestartedProcess("redis", server.prepare)
        stores = [edge.prepare] if qdrant is None else [node.prepare for node in qdrant.nodes]
        self.stores = [RestartedProcess(f"store-{number}", prepare) for number, prepare in enumerate(stores, 1)]
        """The vector store's processes: the Edge process, or the nodes of a Qdrant server."""
        self.service = RestartedProcess("service", self._service)
        self.workers: dict[str, list[RestartedProcess]] = {
            stage: [self._worker(stage, number) for number in range(shape.workers_of(stage))] for stage in STAGES
        }
        self._llm = RestartedProcess("llm", lambda: self._simulated_llm(llm_port, seed))
        self._keys: dict[str, str] = {}
        self._starts: Counter[str] = Counter()

    @property
    def broker(self) -> RestartedProcess:
        """The only broker, or the first of several."""
        return self.brokers[0]

    @property
    def edge(self) -> RestartedProcess:
        """The vector store's only process, or its first one."""
        return self.stores[0]

    @property
    def service_url(self) -> str:
        """Where the query service answers."""
        return f"http://{HOST}:{self.settings.service.port}"

    @property
    def all_workers(self) -> list[RestartedProcess]:
        """The workers of all stages."""
        return [worker for stage in self.workers.values() for worker in stage]

    async def start(self) -> None:
        """Starts everything; returns when all is ready."""
        await asyncio.gather(*(each.start() for each in (*self.brokers, self.redis, self._llm)), self._start_stores())
        await brokers_registered(self.settings.kafka, len(self.brokers))
        await create_topics(self.settings)
        await self.start_stages()
        await self.service.start()

    async def _start_stores(self) -> None:
        for each in self.stores:  # a node joins those before it
            await each.start()

    async def stop(self) -> None:
        """Stops everything, the stages before the servers."""
        await self.stop_stages()
        await self.service.stop()
        await asyncio.gather(*(each.stop() for each in (self._llm, *self.stores, self.redis, *self.brokers)))

    async def start_stages(self) -> None:
        """Starts the workers of all stages."""
        await asyncio.gather(*(worker.start() for worker in self.all_workers))

    async def stop_stages(self) -> None:
        """Stops the workers of all stages with SIGTERM."""
        await asyncio.gather(*(worker.stop() for worker in self.all_workers))

    async def ready(self) -> None:
        """Waits until every process is ready."""
        await asyncio.gather(*(each.ready() for each in (*self.brokers, self.redis, *self.stores, self.service, *self.all_workers)))

    @asynccontextmanager
    async def second_worker(self, stage: str, *, bootstrap: str | None = None) -> AsyncIterator[RestartedProcess]:
        """One more worker of a stage for the length of a block: it joins, and leaves on SIGTERM. It may have another way to Kafka."""
        names = {each.name for each in self.workers[stage]}
        number = next(each for each in itertools.count() if f"{stage}-{each}" not in names)
        worker = self._worker(stage, number, bootstrap=bootstrap)
        self.workers[stage].append(worker)
        try:
            await worker.start()
            yield worker
        finally:
            await worker.stop()
            self.workers[stage].remove(worker)

    async def add_tenant(self, tenant: str, *, methods: bool = False) -> None:
        """Adds a tenant, with or without the operators of the memory methods; the running processes follow."""
        self._keys[tenant] = await add_tenant(self.settings, tenant, schema=methods_schema() if methods else chaos_schema())

    async def grant(self, tenant: str, hard_tokens: int | None) -> None:
        """Sets a tenant's budget; None: unlimited. Windows wait while it is used up."""
        budget = {"hard_tokens": hard_tokens, "policy": "wait"}
        await write(self.settings, lambda draft: set_tenant(draft, tenant, budget=budget))

    def client(self, tenant: str, *, timeout_s: float = 20.0) -> httpx.AsyncClient:
        """An HTTP client that calls the query service for a tenant."""
        return httpx.AsyncClient(base_url=self.service_url, headers={"Authorization": f"Bearer {self._keys[tenant]}"}, timeout=timeout_s)

    def partition(self, key: bytes) -> int:
        """The partition of a key."""
        return partition_of(key, self.settings.kafka.partitions)

    def environment(self, settings: Settings | None = None) -> dict[str, str]:
        """The variables that give a process the cluster's settings, or others."""
        values = (settings or self.settings).model_dump(mode="json", exclude_defaults=True)
        values["signing"]["secret"] = SECRET
        return dict(_variables("VARVE", values))

    async def command(self, *arguments: str) -> tuple[int, str]:
        """Runs a ``varve`` command; returns its exit code and output."""
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "varve", *arguments),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, **self.environment()},
        )
        try:
            output, _ = await child.communicate()
        except asyncio.CancelledError:
            child.kill()
            await child.wait()
            raise
        return child.returncode or 0, output.decode()

    def python_process(
        self, name: str, arguments: tuple[str, ...], *, settings: Settings | None = None, ready: Callable[[], Awaitable[bool]] | None = None
    ) -> RestartedProcess:
        """One more process; it is not started.

        Args:
            name: Its name.
            arguments: Those of the interpreter.
            settings: Its settings. Default: the cluster's.
            ready: Whether it is ready. Default: its health page at the metrics port reports it, as a worker's does.
        """
        port = free_port()
        extra = self.environment(settings) | {"VARVE_METRICS_HOST": HOST, "VARVE_METRICS_PORT": str(port)}
        probe = ready or _http_probe(f"http://{HOST}:{port}/readyz")
        return RestartedProcess(name, lambda: self._python(name, arguments, probe, extra))

    async def metrics(self, worker: str) -> str:
        """The metrics of a worker; empty while it does not answer."""
        async with httpx.AsyncClient(base_url=self._metrics_urls[worker], timeout=PROBE_TIMEOUT_S) as http:
            try:
                return (await http.get("/metrics")).text
            except httpx.TransportError:
                return ""

    def failpoint_file(self, worker: str) -> FailpointFile:
        """The file with the step at which a worker must die."""
        return FailpointFile(self._failpoint_path(worker))

    def _failpoint_path(self, worker: str) -> Path:
        return self.folder / f"{worker}.failpoint"

    def _worker(self, stage: str, number: int, *, bootstrap: str | None = None) -> RestartedProcess:
        name = f"{stage}-{number}"
        port = free_port()
        self._metrics_urls[name] = f"http://{HOST}:{port}"

        def prepare() -> ProcessSpec:
            extra = {"VARVE_METRICS_HOST": HOST, "VARVE_METRICS_PORT": str(port)}
            extra |= self.extra_environment.get(name, {})
            if bootstrap is not None:
                extra["VARVE_KAFKA__BOOTSTRAP"] = bootstrap
            command = ("-m", "tests.chaos.failpoint_worker", str(self._failpoint_path(name)), stage)
            return self._python(name, command, _http_probe(f"{self._metrics_urls[name]}/readyz"), extra)

        return RestartedProcess(name, prepare)

    def _service(self) -> ProcessSpec:
        return self._python("service", ("-m", "varve", "serve"), _http_probe(f"{self.service_url}/healthz"), {})

    def _simulated_llm(self, port: int, seed: int) -> ProcessSpec:
        async def ready() -> bool:
            return listens(port)

        return self._python("llm", ("-m", "tests.chaos.simulated_llm", str(port), str(seed)), ready, {})

    def _python(self, name: str, arguments: tuple[str, ...], ready: Callable[[], Awaitable[bool]], extra: Mapping[str, str]) -> ProcessSpec:
        self._starts[name] += 1
        return ProcessSpec(
            name=name,
            command=(sys.executable, *arguments),
            log=self.logs / f"{name}.{self._starts[name]}.log",
            ready=ready,
            environment=self.environment() | dict(extra),
            start_deadline_s=START_DEADLINE_S,
            stop_deadline_s=STOP_DEADLINE_S,
        )


@asynccontextmanager
async def running_cluster(folder: Path, *, seed: int, shape: ClusterShape = SINGLE) -> AsyncIterator[Cluster]:
    """A cluster for the length of a block."""
    cluster = Cluster(folder=folder, seed=seed, shape=shape)
    async with cluster.proxy.running():
        try:
            await cluster.start()
            yield cluster
        finally:
            await cluster.stop()


def _variables(prefix: str, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    variables: list[tuple[str, str]] = []
    for name, value in values.items():
        variable = f"{prefix}_{name.upper()}" if prefix == "VARVE" else f"{prefix}__{name.upper()}"
        if isinstance(value, dict):
            variables += _variables(variable, value)
        else:
            variables.append((variable, value if isinstance(value, str) else json.dumps(value)))
    return variables


def _http_probe(url: str) -> Callable[[], Awaitable[bool]]:
    async def ready() -> bool:
        async with httpx.AsyncClient(timeout=PROBE_TIMEOUT_S) as client:
            try:
                return (await client.get(url)).status_code == httpx.codes.OK
            except httpx.TransportError:
                return False

    return ready
