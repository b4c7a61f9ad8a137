"""``varve`` commands that are forked from a process that has loaded Varve (:mod:`varve.supervisor.fork_server`)."""

import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import orjson

from varve.errors import StartError
from varve.supervisor.fork_server import NUMBER
from varve.supervisor.start_errors import explained_os_errors

_START_DEADLINE_S: Final = 60.0


class ForkedCommand:
    """A running command, with the members of ``subprocess.Popen`` that the supervisor uses.

    Args:
        pid: Its process id.
        pipe: Gets its exit code at its end.
    """

    def __init__(self, pid: int, pipe: int) -> None:
        self.pid = pid
        self._pipe = pipe
        self._exit_code: int | None = None

    def poll(self) -> int | None:
        """The exit code, or the negative number of the signal that ended it; None while it runs."""
        if self._exit_code is None and select.select([self._pipe], [], [], 0)[0]:
            # Without a number, the fork server has ended, and with it the command.
            self._exit_code = _number(self._pipe)
            if self._exit_code is None:
                self._exit_code = -signal.SIGKILL
            os.close(self._pipe)
        return self._exit_code

    def send_signal(self, number: signal.Signals) -> None:
        """Sends a signal to a running command."""
        if self.poll() is None:
            os.kill(self.pid, number)


class ForkServer:
    """Starts the fork server when it is first needed, and again when it has ended.

    Args:
        log: Its own output is appended here.
    """

    def __init__(self, log: Path) -> None:
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None

    def start(self) -> socket.socket:
        """Starts the process, which then loads Varve for seconds. The thread must live as long as the process.

        Raises:
            AccessDeniedError: If its log cannot be written.
            DiskFullError: If there is no space for it.
        """
        if self._requests is not None and self._process is not None and self._process.poll() is None:
            return self._requests
        self.stop()
        with explained_os_errors(self._log):
            self._log.parent.mkdir(parents=True, exist_ok=True)
            log = self._log.open("wb")
        self._requests, given = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with log, given:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "varve.supervisor.fork_server", str(given.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # NumPy must start no threads, which a fork would lose: see `main` of the command line.
                env={"OPENBLAS_NUM_THREADS": "1", **os.environ},
                start_new_session=True,
                pass_fds=(given.fileno(),),
            )
        return self._requests

    def run(self, arguments: Sequence[str], environment: Mapping[str, str], log: int) -> ForkedCommand:
        """Runs a ``varve`` command. Waits until Varve is loaded.

        Args:
            arguments: The words after ``varve``.
            environment: All its variables.
            log: File descriptor of its output.

        Raises:
            StartError: If the fork server failed.
        """
        requests = self.start()
        request = orjson.dumps({"arguments": arguments, "environment": dict(environment), "folder": str(Path.cwd())})
        received, sent = os.pipe()
        try:
            with suppress(ConnectionError):
                socket.send_fds(requests, [request], [log, sent])
        finally:
            os.close(sent)
        is_there, _, _ = select.select([received], [], [], _START_DEADLINE_S)
        pid = _number(received) if is_there else None
        if pid is None:
            os.close(received)
            raise StartError(f"the process that forks the stages does not answer: see {self._log}")
        return ForkedCommand(pid, received)

    def stop(self) -> None:
        """Ends the process, and with it all commands that still run."""
        if self._requests is not None:
            self._requests.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._requests = self._process = None


def _number(pipe: int) -> int | None:
    """The next number; None at the pipe's end."""
    written = os.read(pipe, NUMBER.size)
    return int(NUMBER.unpack(written)[0]) if written else None
