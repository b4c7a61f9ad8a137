"""A real Edge owner process for tests."""

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from stores.edge.folder import is_served
from tests.waiting import until

DEADLINE_S = 60.0


class EdgeOwnerProcess:
    """Starts an owner on a folder and waits until it answers; leaving the block stops it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        # pytest's folders may be longer than a Unix socket's path can be.
        self._socket_folder = tempfile.TemporaryDirectory(prefix="varve-edge-")
        self.socket = Path(self._socket_folder.name) / "edge.sock"
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.process is not None:
            self.stop(signal.SIGTERM)
        self._socket_folder.cleanup()

    def start(self) -> None:
        process = self.process = launch_owner(self.folder, self.socket)

        def has_come_up() -> bool:
            assert process.poll() is None, process.communicate()[1]
            return is_served(self.socket)

        until(has_come_up, deadline_s=DEADLINE_S)

    def stop(self, signal_number: signal.Signals) -> int:
        """Stops the owner and checks that it wrote nothing to stderr."""
        assert self.process is not None
        self.process.send_signal(signal_number)
        _, stderr = self.process.communicate(timeout=DEADLINE_S)
        code, self.process = self.process.returncode, None
        assert stderr == ""
        return code


def launch_owner(folder: Path, socket: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "stores.edge", "--data", str(folder), "--socket", str(socket)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@contextmanager
def standing_still(owner: EdgeOwnerProcess) -> Iterator[None]:
    """Within the block the owner's process takes requests and answers none."""
    assert owner.process is not None
    owner.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        owner.process.send_signal(signal.SIGCONT)
