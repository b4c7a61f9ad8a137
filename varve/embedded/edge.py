"""The Qdrant Edge engine as a child process: it owns the shard and serves the store's port over a Unix socket."""

import socket
import sys
from pathlib import Path
from typing import Final

from varve.errors import StartError
from varve.supervisor.process import ProcessSpec
from varve.supervisor.start_errors import explained_os_errors

MAX_SOCKET_PATH: Final = 103
"""In bytes; the limit of ``sockaddr_un`` on macOS. Linux allows more."""


class EmbeddedEdge:
    """The shard owner's folder, socket and command line.

    Args:
        data: The shard's folder; persists between runs.
        socket_path: Its Unix socket.
        log: File for its output.
    """

    def __init__(self, *, data: Path, socket_path: Path, log: Path) -> None:
        self._data = data.absolute()
        self.socket_path = socket_path.absolute()
        self._log = log

    def prepare(self) -> ProcessSpec:
        """Creates the data folder and returns the process to run.

        Raises:
            StartError: If the socket's path is too long for the system.
            AccessDeniedError: If the data folder cannot be written.
        """
        if len(bytes(self.socket_path)) > MAX_SOCKET_PATH:
            raise StartError(
                f"{self.socket_path} is too long for a Unix socket (at most {MAX_SOCKET_PATH} bytes): "
                "choose a shorter --data, or set VARVE_STORE__SOCKET"
            )
        with explained_os_errors(self._data):
            self._data.mkdir(parents=True, exist_ok=True)
        return ProcessSpec(
            name="edge",
            command=(sys.executable, "-m", "stores.edge", "--data", str(self._data), "--socket", str(self.socket_path)),
            log=self._log,
            ready=self.ready,
        )

    async def ready(self) -> bool:
        """Whether the owner accepts connections; by then it has opened the shard."""
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(0.5)
            return probe.connect_ex(str(self.socket_path)) == 0
