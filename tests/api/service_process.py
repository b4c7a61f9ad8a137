"""The query service as a separate process, as ``varve serve`` runs it, and raw connections to it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.waiting import until
from varve.embedded.ports import HOST, free_port

DEADLINE_S = 120
SERVE = (sys.executable, "-m", "varve", "serve")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceProcess:
    """A running service."""

    port: int
    page: str
    """The address of its health page."""
    key: str
    """A key of the tenant acme."""
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def connect(self, *, timeout_s: float = DEADLINE_S) -> socket.socket:
        return socket.create_connection((HOST, self.port), timeout=timeout_s)

    def ask(self, request: bytes) -> bytes:
        """Sends bytes, and reads until the service closes the connection."""
        with self.connect() as connection:
            connection.sendall(request)
            return read_to_end(connection)

    def metrics(self) -> str:
        return httpx.get(f"{self.page}/metrics", timeout=DEADLINE_S).text


@contextmanager
def service_process(data: Path, *, key: str = "", **variables: str) -> Iterator[ServiceProcess]:
    """A service for the length of a block, without Kafka and Redis unless the variables name them.

    Args:
        data: Its data folder.
        key: An API key that it knows, if it has a Kafka.
        variables: Of its environment.
    """
    port, page_port, nowhere = free_port(), free_port(), free_port()
    environment = {
        **os.environ,
        "VARVE_DATA": str(data),
        "VARVE_SERVICE__PORT": str(port),
        "VARVE_SERVICE__PRODUCE_TIMEOUT_S": "1",
        "VARVE_METRICS_PORT": str(page_port),
        "VARVE_KAFKA__BOOTSTRAP": f"{HOST}:{nowhere}",
        "VARVE_REDIS__URL": f"redis://{HOST}:{nowhere}/0",
        "VARVE_LOG__FORMAT": "json",
        **variables,
    }
    log = data / "service.log"
    with log.open("wb") as written:
        process = subprocess.Popen(SERVE, env=environment, stderr=written)
    service = ServiceProcess(port=port, page=f"http://{HOST}:{page_port}", key=key, log=log, process=process)
    try:

        def has_come_up() -> bool:
            assert process.poll() is None, log.read_text()
            return _answers(service.url)

        until(has_come_up, deadline_s=DEADLINE_S)
        yield service
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=DEADLINE_S) == 0, log.read_text()
    finally:
        process.kill()
        process.wait()


def read_to_end(connection: socket.socket) -> bytes:
    """The bytes that the other side sends until it closes the connection."""
    received = b""
    while block := connection.recv(65536):
        received += block
    return received


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=1).status_code == 200
    except httpx.TransportError:
        return False
