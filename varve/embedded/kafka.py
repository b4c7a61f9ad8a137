"""A real Kafka broker as a child process: one node, its own KRaft controller, data under a folder."""

import logging
from pathlib import Path
from typing import Final

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from memory.errors import VarveError
from runtime.kafka.client import connect
from varve.embedded import jars
from varve.embedded.kafka_storage import format_storage
from varve.embedded.ports import HOST, free_port, listens, require_free
from varve.errors import PortInUseError, StartError
from varve.supervisor.process import ProcessSpec
from varve.supervisor.start_errors import explained_os_errors

ONE_PLAIN_NODE: Final = {"security_protocol": "PLAINTEXT", "replication_factor": 1, "min_insync_replicas": 1}
"""Kafka settings of a single node without TLS."""
REQUEST_TIMEOUT_MS: Final = 5000
QUICK: Final = ("-XX:TieredStopAtLevel=1",)
QUIET: Final = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "--sun-misc-unsafe-memory-access=allow")
GROUPS_KEPT_MINUTES: Final = 10 * 366 * 24 * 60
"""Time for which Kafka keeps the offsets of a group without workers. With its default of seven days, a longer pause would lose them."""
SESSION_S: Final = 3
STOP_DEADLINE_S: Final = 45.0
"""A clean stop flushes every log; the broker then starts without a recovery."""


class EmbeddedKafka:
    """The broker's folder, ports and command line.

    Args:
        data: Its data folder; persists between runs.
        cache: The cache folder that holds the jars.
        port: The port for clients; 0: a free port, which stays the same for this object.
        heap_mb: The JVM's heap in MiB.
        short_lived: For a broker that runs for minutes: turns off the JVM's optimising compiler. A start
            took 4.2 s of CPU instead of 5.9 s.
        session_s: Time after which a silent broker is excluded from its own cluster. A killed broker can register again only then; a
            broker on a machine that stops for longer needs seconds, on a busy machine minutes, until it serves again.
        log: File for its output. Default: ``kafka.log`` in the data folder.
    """

    def __init__(
        self,
        *,
        data: Path,
        cache: Path,
        port: int = 0,
        heap_mb: int = 384,
        short_lived: bool = False,
        session_s: int = SESSION_S,
        log: Path | None = None,
    ) -> None:
        if heap_mb < 128:
            raise ValueError(f"Kafka needs a heap of at least 128 MiB, got {heap_mb}")
        self._data = data.absolute()
        self._cache = cache
        self._log = log or self._data / "kafka.log"
        self._session_s = session_s
        self._jvm = (f"-Xmx{heap_mb}m", "-XX:+UseSerialGC", *(QUICK if short_lived else ()), *QUIET)
        self.port = port or free_port()
        self._controller_port = free_port()

    @property
    def bootstrap(self) -> str:
        """The bootstrap address, ``host:port``."""
        return f"{HOST}:{self.port}"

    def prepare(self) -> ProcessSpec:
        """Writes the broker's configuration, formats new storage, and returns the process to run.

        Raises:
            MissingPartError: If a jar or the Java runtime is missing.
            PortInUseError: If the requested port is taken.
            AccessDeniedError: If the data folder cannot be written.
            DiskFullError: If there is no space in it.
        """
        require_free(self.port, owner="Kafka", option="--kafka-port")
        java, class_path = str(jars.java()), jars.class_path(self._cache)
        properties = self._data / "server.properties"
        with explained_os_errors(self._data):
            self._data.mkdir(parents=True, exist_ok=True)
            values = self._properties()
            properties.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
            format_storage(self._logs, node=int(values["node.id"]))
        start_cache = jars.start_cache_path(self._cache)
        cached = (f"-XX:AOTCache={start_cache}",) if start_cache.is_file() else ()
        return ProcessSpec(
            name="kafka",
            command=(java, *self._jvm, *cached, "-cp", class_path, "kafka.Kafka", str(properties)),
            log=self._log,
            ready=self.ready,
            stop_deadline_s=STOP_DEADLINE_S,
            diagnose=self._diagnose,
        )

    async def ready(self) -> bool:
        """Whether the broker answers a metadata request and has registered itself with its controller."""
        if not listens(self.port):
            return False
        logger = logging.getLogger("aiokafka")
        level = logger.level
        logger.setLevel(logging.CRITICAL)  # refused connections are expected while it starts
        admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap, request_timeout_ms=REQUEST_TIMEOUT_MS)
        try:
            await connect(admin)
            cluster = await admin.describe_cluster()
            return bool(cluster["brokers"])
        except (KafkaError, OSError, TimeoutError):
            return False
        finally:
            await admin.close()
            logger.setLevel(level)

    @property
    def _logs(self) -> Path:
        return self._data / "logs"

    def _properties(self) -> dict[str, str | int]:
        """One node needs one replica of everything, and few partitions of Kafka's own topics."""
        return {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@{HOST}:{self._controller_port}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://{HOST}:{self.port},CONTROLLER://{HOST}:{self._controller_port}",
            "advertised.listeners": f"PLAINTEXT://{HOST}:{self.port}",
            "log.dirs": str(self._logs),
            "auto.create.topics.enable": "false",
            "broker.session.timeout.ms": self._session_s * 1000,
            "broker.heartbeat.interval.ms": 500,
            "group.initial.rebalance.delay.ms": 0,
            "offsets.topic.num.partitions": 4,
            "offsets.topic.replication.factor": 1,
            "offsets.retention.minutes": GROUPS_KEPT_MINUTES,
            "transaction.state.log.num.partitions": 4,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "share.coordinator.state.topic.num.partitions": 1,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            # Above the largest message that Varve accepts: a larger one must still fit into the dead letters.
            "message.max.bytes": 16 * 1024 * 1024,
            "log.segment.bytes": 256 * 1024 * 1024,
            "log.index.size.max.bytes": 1024 * 1024,
            "num.network.threads": 2,
            "num.io.threads": 4,
            "log.cleaner.dedupe.buffer.size": 8 * 1024 * 1024,
        }

    def _diagnose(self, log: str) -> VarveError | None:
        if "Address already in use" in log:
            return PortInUseError(
                f"port {self.port} or {self._controller_port} for Kafka is in use: stop the program that listens on it, "
                "or give another with --kafka-port"
            )
        if "Failed to acquire lock on file" in log:
            return StartError(f"another Kafka works on {self._logs}: stop it, or choose another folder with --data")
        return None
