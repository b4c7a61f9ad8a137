"""The embedded stack: its processes, their order and their settings."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

import httpx

from runtime.kafka import create_topics
from runtime.settings import Settings
from runtime.settings.group import Group
from streams.stages.catalog import STAGES
from varve.embedded.edge import EmbeddedEdge
from varve.embedded.kafka import ONE_PLAIN_NODE, EmbeddedKafka
from varve.embedded.ports import HOST, free_port, listens, preferred_port, require_free
from varve.embedded.private_files import kept_secret
from varve.embedded.redis import EmbeddedRedis
from varve.embedded.tenants import DeveloperTenant, prepare_tenants
from varve.supervisor.forked import ForkServer
from varve.supervisor.process import NATIVE_PARENT_WATCH, ProcessSpec
from varve.supervisor.start_errors import waiting_stage
from varve.supervisor.supervisor import Level, OneShot, Program

SERVICE: Final = "service"
PROBE_TIMEOUT_S: Final = 5.0
_WORKER_SESSION_S: Final = 30.0
"""Kafka session of a worker. On a busy machine, the broker and eight Python processes may get no CPU for longer than the default, which is
for workers on several machines. A killed worker is not waited for: its successor, in the same folder, removes it from the group."""
STAGE_START_DEADLINE_S: Final = 120.0
"""A stage reads its whole changelog before it is ready."""


class EmbeddedStack:
    """Kafka, Redis, Qdrant Edge, the topics, the stages and the query service.

    A server whose address is set (``VARVE_KAFKA__BOOTSTRAP``, ``VARVE_REDIS__URL``, ``VARVE_STORE__KIND=server``) is used, even at the
    default address; the stack does not start one.

    Args:
        settings: The base settings; ``data`` is the folder of all state.
        kafka_port: Kafka's port; 0: a free port.
        redis_port: Redis' port; 0: a free port.
        service_port: The query service's port; 0: a free port. Default: that of the settings, or else 8080 if it is free.
        kafka_heap_mb: The heap of Kafka's JVM in MiB.
        throwaway: Whether the stack is temporary: it ignores the servers and the tenants' file of the settings, and tunes Kafka for a quick
            start.
        tenant: Tenant to create before the stages start. Default: none.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        kafka_port: int = 0,
        redis_port: int = 0,
        service_port: int | None = None,
        kafka_heap_mb: int = 384,
        throwaway: bool = False,
        tenant: DeveloperTenant | None = None,
    ) -> None:
        data = settings.data.absolute()
        self.tenant = tenant
        self._logs = data / "logs"
        self._kafka = self._redis = self._edge = None
        if throwaway or "bootstrap" not in settings.kafka.model_fields_set:
            self._kafka = EmbeddedKafka(
                data=data / "kafka",
                cache=settings.cache_path,
                port=kafka_port,
                heap_mb=kafka_heap_mb,
                short_lived=throwaway,
                log=self._log("kafka"),
            )
        if throwaway or "url" not in settings.redis.model_fields_set:
            self._redis = EmbeddedRedis(data=data / "redis", port=redis_port, log=self._log("redis"))
        if throwaway or settings.store.kind == "edge":
            given_socket = None if throwaway else settings.store.socket
            self._edge = EmbeddedEdge(data=data / "edge", socket_path=given_socket or data / "edge.sock", log=self._log("edge"))
        self.settings = settings.model_copy(
            update={
                "data": data,
                "tenants_file": data / "tenants.json" if throwaway else settings.tenants_path.absolute(),
                "service": settings.service.model_copy(
                    update={"host": HOST, "port": _service_port(settings, service_port, throwaway=throwaway)}
                ),
                **self._own_servers(settings, data),
            }
        )
        """The settings with the stack's addresses."""
        self._probe_ports = {name: free_port() for name in (*STAGES, SERVICE)}
        # Elsewhere than on Linux, nothing ends the forks of a killed stack.
        self.fork_server = ForkServer(self._log("fork-server")) if NATIVE_PARENT_WATCH == "kernel" else None
        """Runs the stages and the service, which load the same modules; while it loads them, Kafka starts."""

    @property
    def service_url(self) -> str:
        """URL of the query service."""
        return f"http://{HOST}:{self.settings.service.port}"

    @property
    def serves_console(self) -> bool:
        """Whether the query service serves the web console: yes, unless the settings switch it off."""
        console = self.settings.console
        return console.enabled or "enabled" not in console.model_fields_set

    @property
    def probes(self) -> dict[str, str]:
        """URLs of the health pages of the stages and the service."""
        return {name: f"http://{HOST}:{port}" for name, port in self._probe_ports.items()}

    def server_levels(self) -> list[Level]:
        """Kafka, Redis and Qdrant Edge, then the topics."""
        servers = [
            Program(name=name, prepare=server.prepare)
            for name, server in (("kafka", self._kafka), ("redis", self._redis), ("edge", self._edge))
            if server is not None
        ]
        return [servers, [OneShot(name="topics", run=partial(create_topics, self.settings))]]

    def levels(self) -> list[Level]:
        """All processes in the order of their start."""
        deaths = 2 * self.settings.delivery.maximum_crashes
        workers = [Program(name=name, prepare=partial(self._stage, name), deaths_while_starting=deaths) for name in STAGES]
        return [*self.server_levels(), *self._tenant_levels(), [*workers, Program(name=SERVICE, prepare=self._service)]]

    def _own_servers(self, settings: Settings, data: Path) -> dict[str, Group]:
        """The settings of the servers that the stack starts."""
        groups: dict[str, Group] = {}
        if self._kafka is not None:
            groups["kafka"] = settings.kafka.model_copy(update={"bootstrap": self._kafka.bootstrap, **ONE_PLAIN_NODE})
            # No other process uses the stack's own Kafka, so no other process needs the secret.
            if settings.signing.secret is None:
                groups["signing"] = settings.signing.model_copy(update={"secret": kept_secret(data)})
        if self._redis is not None:
            groups["redis"] = settings.redis.model_copy(update={"url": self._redis.url})
        if self._edge is not None:
            groups["store"] = settings.store.model_copy(update={"kind": "edge", "socket": self._edge.socket_path})
        return groups

    def _tenant_levels(self) -> list[Level]:
        return [] if self.tenant is None else [[OneShot(name="tenants", run=partial(prepare_tenants, self.settings, self.tenant))]]

    def environment(self) -> dict[str, str]:
        """The variables that point another Varve process at this stack."""
        settings = self.settings
        variables = {
            "VARVE_DATA": str(settings.data),
            "VARVE_CACHE": str(settings.cache_path.absolute()),
            "VARVE_TENANTS_FILE": str(settings.tenants_path),
            "VARVE_KAFKA__BOOTSTRAP": settings.kafka.bootstrap,
            "VARVE_KAFKA__SECURITY_PROTOCOL": settings.kafka.security_protocol,
            "VARVE_KAFKA__REPLICATION_FACTOR": str(settings.kafka.replication_factor),
            "VARVE_KAFKA__MIN_INSYNC_REPLICAS": str(settings.kafka.min_insync_replicas),
            "VARVE_REDIS__URL": settings.redis.url,
            "VARVE_STORE__KIND": settings.store.kind,
            "VARVE_SERVICE__HOST": settings.service.host,
            "VARVE_SERVICE__PORT": str(settings.service.port),
        }
        if settings.store.socket is not None:
            variables["VARVE_STORE__SOCKET"] = str(settings.store.socket)
        if settings.signing.secret is not None:
            variables["VARVE_SIGNING__SECRET"] = settings.signing.secret.get_secret_value()
        return variables

    def _stage(self, name: str) -> ProcessSpec:
        kafka = self.settings.kafka
        is_set = "session_timeout_s" in kafka.model_fields_set or self._kafka is None
        return self._varve(name, ("worker", name), {} if is_set else {"VARVE_KAFKA__SESSION_TIMEOUT_S": str(_WORKER_SESSION_S)})

    def _service(self) -> ProcessSpec:
        require_free(self.settings.service.port, owner="the query service", option="--service-port")
        return self._varve(SERVICE, ("serve",), {"VARVE_CONSOLE__ENABLED": str(self.serves_console).lower()})

    def _varve(self, name: str, arguments: tuple[str, ...], variables: Mapping[str, str] | None = None) -> ProcessSpec:
        return ProcessSpec(
            name=name,
            command=arguments if self.fork_server is not None else (sys.executable, "-m", "varve", *arguments),
            fork_server=self.fork_server,
            log=self._log(name),
            ready=_http_probe(self._probe_ports[name]),
            alive=health_check(self._probe_ports[name]),
            environment={
                **self.environment(),
                "VARVE_METRICS_HOST": HOST,
                "VARVE_METRICS_PORT": str(self._probe_ports[name]),
                **(variables or {}),
            },
            start_deadline_s=STAGE_START_DEADLINE_S,
            stop_deadline_s=self.settings.delivery.drain_timeout_s * 2 + 10,
            diagnose=partial(waiting_stage, name=name, path=self._log(name)),
        )

    def _log(self, name: str) -> Path:
        return self._logs / f"{name}.log"


def _http_probe(port: int) -> Callable[[], Awaitable[bool]]:
    client = _probe_client(PROBE_TIMEOUT_S)

    async def ready() -> bool:
        # Most probes are too early, and a refused HTTP request takes twenty times the CPU of a refused connection.
        if not listens(port):
            return False
        try:
            return (await client.get(f"http://{HOST}:{port}/readyz")).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    return ready


def health_check(port: int, *, timeout_s: float = PROBE_TIMEOUT_S) -> Callable[[], Awaitable[bool]]:
    """Whether the process at a port answers its health check, or has ended: the kernel accepts connections for one that hangs."""
    client = _probe_client(timeout_s)

    async def alive() -> bool:
        try:
            await client.get(f"http://{HOST}:{port}/healthz")
        except httpx.TimeoutException:
            return False
        except httpx.TransportError:
            return True
        return True

    return alive


def _probe_client(timeout_s: float) -> httpx.AsyncClient:
    # One client for all probes of a process: making one costs more than a probe. It keeps no connection open, so nothing has to close it.
    return httpx.AsyncClient(timeout=timeout_s, limits=httpx.Limits(max_keepalive_connections=0))


def _service_port(settings: Settings, given: int | None, *, throwaway: bool) -> int:
    """The port of the query service. A temporary stack leaves the documented port to others."""
    port = settings.service.port
    if given is None and port and not throwaway:
        return port if "port" in settings.service.model_fields_set else preferred_port(port)
    return given or free_port()
