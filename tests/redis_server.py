"""Redis servers that a test may make hang, kill and start again, and the settings of a client of the shared one."""

import asyncio
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Self

from runtime.settings import RedisSettings


def own_keys(redis_url: str, topic_prefix: str) -> RedisSettings:
    """The settings of a client with a prefix of the test's own."""
    return RedisSettings(url=redis_url, prefix=f"{topic_prefix}redis:", timeout_s=60.0)


class RedisServer:
    """A real Redis on a Unix socket, empty at each start.

    Args:
        executable: The server's path.
        folder: Folder of its socket.
    """

    def __init__(self, executable: Path, folder: str) -> None:
        self.socket = Path(folder) / "s"
        self._command = [str(executable), "--port", "0", "--unixsocket", str(self.socket), "--save", "", "--dir", folder]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, and returns once it takes connections."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not self._takes_connections():
            assert time.monotonic() < deadline, "Redis does not start"
            time.sleep(0.005)

    def suspend(self) -> None:
        """Makes it hang: connections are taken, nothing is answered."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Lets it answer again."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """Ends it; harmless when repeated."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None
            self.socket.unlink(missing_ok=True)

    def _takes_connections(self) -> bool:
        # Its socket exists a moment before.
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self.socket)) == 0

    def _signal(self, number: int) -> None:
        assert self._process is not None
        os.kill(self._process.pid, number)


class SilentRedis:
    """A server that takes connections, counts them, and never answers."""

    def __init__(self) -> None:
        self.connections = 0
        self.port = 0
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []

    @property
    def url(self) -> str:
        """Its address."""
        return f"redis://127.0.0.1:{self.port}/0"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.close()
        await self._server.wait_closed()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        await reader.read()
