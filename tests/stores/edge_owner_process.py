"""A real Edge owner process for tests."""

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from stores.edge.folder import is_served
from tests.waiting import until

DEADLINE_S = 60.0
_FORKS: Final = multiprocessing.get_context("forkserver")
"""A process that has loaded the owner's program, and forks for each owner: loading it takes most of an owner's start."""
_FORKS.set_forkserver_preload(["stores.edge.__main__"])


class ForkedOwner:
    """A fork that runs the owner's program; ends with this process at the latest.

    Args:
        folder: The folder of the shard.
        socket: The path of the socket.
        errors: The file for its standard error.
    """

    def __init__(self, folder: Path, socket: Path, errors: Path) -> None:
        self._errors = errors
        self._process = _FORKS.Process(target=_run_owner, args=(_arguments(folder, socket), errors), daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """How it ended, as of :class:`subprocess.Popen`; None while it runs."""
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        """Sends it a signal if it runs."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def wait(self) -> tuple[int, str]:
        """Waits for its end; returns how it ended, and what it wrote to standard error."""
        self._process.join(DEADLINE_S)
        assert self.returncode is not None, f"the owner still runs after {DEADLINE_S:g} s"
        return self.returncode, self.stderr

    @property
    def stderr(self) -> str:
        """The text on standard error so far."""
        return self._errors.read_text()


class EdgeOwnerProcess:
    """Starts an owner on a folder and waits until it answers; leaving the block stops it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: ForkedOwner | None = None

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
        process = self.process = ForkedOwner(self.folder, self.socket, self.socket.with_name("errors"))

        def has_come_up() -> bool:
            assert process.returncode is None, process.stderr
            return is_served(self.socket)

        until(has_come_up, deadline_s=DEADLINE_S)

    def stop(self, signal_number: signal.Signals) -> int:
        """Stops the owner and checks that it wrote nothing to stderr."""
        assert self.process is not None
        self.process.send_signal(signal_number)
        code, stderr = self.process.wait()
        self.process = None
        assert stderr == ""
        return code


def launch_owner(folder: Path, socket: Path) -> subprocess.Popen[str]:
    """Starts an owner as the stack does, without a wait."""
    return subprocess.Popen([sys.executable, "-m", "stores.edge", *_arguments(folder, socket)], stderr=subprocess.PIPE, text=True)


def _arguments(folder: Path, socket: Path) -> list[str]:
    return ["--data", str(folder), "--socket", str(socket)]


def _run_owner(arguments: list[str], errors: Path) -> None:
    """Runs the owner's program in this process, a fork."""
    with errors.open("wb") as file:
        os.dup2(file.fileno(), sys.stderr.fileno())
    sys.argv = ["stores.edge", *arguments]
    from stores.edge.__main__ import main

    sys.exit(main())


@contextmanager
def standing_still(owner: EdgeOwnerProcess) -> Iterator[None]:
    """Within the block the owner's process takes requests and answers none."""
    assert owner.process is not None
    owner.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        owner.process.send_signal(signal.SIGCONT)
