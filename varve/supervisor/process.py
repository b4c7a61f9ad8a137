"""One child process: started, waited for until it is ready, stopped within a deadline."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, Literal

from memory.errors import VarveError
from varve.errors import StartError
from varve.supervisor import launch
from varve.supervisor.forked import ForkedCommand, ForkServer
from varve.supervisor.start_errors import explained_os_errors, file_error_in

POLL_S: Final = 0.05
END_LOOK_S: Final = 0.25
"""Time between two looks whether a running process has ended."""
TAIL_BYTES: Final = 16_384
ROTATE_BYTES: Final = 16 * 1024 * 1024
LOG_LOOK_S: Final = 5.0
"""Seconds between two checks of a log's size."""
LIVENESS_LOOK_S: Final = 5.0
"""Seconds between two health checks of a running process."""
MOST_UNANSWERED: Final = 6
"""Health checks in a row without an answer, after which a process counts as hung. They are counted, since all processes of a machine that
was suspended miss the same time."""

ParentWatch = Literal["kernel", "pipe"]
"""Mechanism that kills a child when its parent dies: see :mod:`varve.supervisor.launch`."""
NATIVE_PARENT_WATCH: Final[ParentWatch] = "kernel" if sys.platform == "linux" else "pipe"

Diagnosis = Callable[[str], VarveError | None]


def no_diagnosis(_log: str) -> VarveError | None:
    """Diagnosis of a process whose log has no known errors."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """How to run a child process."""

    name: str
    command: tuple[str, ...]
    """The program and its arguments; with a fork server, the words after ``varve``."""
    log: Path
    """Its output is appended here."""
    ready: Callable[[], Awaitable[bool]]
    """Readiness probe: true once it serves. Called repeatedly while it starts, never after."""
    alive: Callable[[], Awaitable[bool]] | None = None
    """Health check of the running process: false if it hangs. None: it is not checked."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables added to this process's environment."""
    start_deadline_s: float = 60.0
    stop_deadline_s: float = 30.0
    """Seconds between SIGTERM and SIGKILL."""
    diagnose: Diagnosis = no_diagnosis
    """Turns the end of its log into a clear error; None if it finds none."""
    fork_server: ForkServer | None = None
    """Runs the command, which is one of ``varve``. None: it is another program."""


class ManagedProcess:
    """A child process that ends with this one.

    It runs in a separate session, so that a Ctrl-C in the terminal reaches only the supervisor, which stops its children in order.

    Args:
        spec: The command and its probes.
        parent_watch: How the child is killed when this process dies.
    """

    def __init__(self, spec: ProcessSpec, *, parent_watch: ParentWatch = NATIVE_PARENT_WATCH) -> None:
        self.spec = spec
        self._parent_watch: ParentWatch = parent_watch
        self._child: subprocess.Popen[bytes] | ForkedCommand | None = None
        self._log_start = 0
        self._watch_pipe: int | None = None
        self.may_start_again = False
        """Whether it ended before it was ready in a way that the next start may escape: by a foreign signal, such as SIGSEGV, or SIGKILL
        for lack of memory; or because it has to be restarted, such as a worker whose Kafka session ended while the machine slept."""
        self.was_hung = False
        """Whether :meth:`kill_if_hung` killed it."""

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._child.pid if self._child is not None and self._child.poll() is None else None

    @property
    def exit_code(self) -> int | None:
        """Exit code of the last run; negative: a signal ended it. None: it is running, or was never started."""
        return None if self._child is None else self._child.poll()

    async def start(self) -> None:
        """Starts the process and waits until it is ready.

        Raises:
            StartError: If it ends or is not ready in time; or the clearer error that the spec's diagnosis finds in its log.
            AccessDeniedError: If its log cannot be written.
            DiskFullError: If there is no space for it.
        """
        self._spawn()
        deadline = time.monotonic() + self.spec.start_deadline_s
        try:
            while not await self.spec.ready():
                if self.exit_code is not None:
                    self.may_start_again = self.exit_code < 0 or self.exit_code == os.EX_TEMPFAIL
                    raise self.failure(f"{self.spec.name} ended with {describe_exit(self.exit_code)} while it started")
                if time.monotonic() > deadline:
                    raise self.failure(f"{self.spec.name} was not ready within {self.spec.start_deadline_s:.0f} s")
                await asyncio.sleep(POLL_S)
        except BaseException:
            await self.stop()
            raise

    async def wait_ended(self) -> None:
        """Waits until the process has ended; meanwhile limits the size of its log."""
        next_look = time.monotonic()
        while self.pid is not None:
            if time.monotonic() >= next_look:
                # On a full or slow disk, the watch continues, and the next check tries again.
                with contextlib.suppress(OSError):
                    await asyncio.to_thread(self._shorten_log)
                next_look = time.monotonic() + LOG_LOOK_S
            await asyncio.sleep(END_LOOK_S)

    async def kill_if_hung(self) -> None:
        """Checks the running process until it has left :data:`MOST_UNANSWERED` checks in a row unanswered, and then kills it.

        It gets no SIGTERM first: a process that does not run does not handle it.
        """
        alive = self.spec.alive
        if alive is None:
            return
        unanswered = 0
        while unanswered < MOST_UNANSWERED:
            answered, _ = await asyncio.gather(alive(), asyncio.sleep(LIVENESS_LOOK_S))
            unanswered = 0 if answered else unanswered + 1
        self.was_hung = True
        self.signal(signal.SIGKILL)

    async def stop(self) -> bool:
        """Sends SIGTERM, and SIGKILL if the process has not ended within its deadline.

        Returns:
            Whether SIGTERM was enough.
        """
        self.signal(signal.SIGTERM)
        ended = await self._ended_within(self.spec.stop_deadline_s)
        if not ended:
            self.signal(signal.SIGKILL)
            await self._ended_within(self.spec.stop_deadline_s)
        self._close_watch_pipe()
        return ended

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal; does nothing when the process has ended."""
        if self._child is not None and self._child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self._child.send_signal(number)

    def failure(self, headline: str) -> VarveError:
        """The error for a process that failed: the cause that its log names, or else the headline with the log's last line."""
        log = self._log_tail()
        last_line = next((line for line in reversed(log.splitlines()) if line.strip()), "it wrote nothing")
        cause = self.spec.diagnose(log) or file_error_in(log, name=self.spec.name, path=self.spec.log)
        return cause or StartError(f"{headline}: {last_line.strip()[:300]} (whole log: {self.spec.log})")

    def _spawn(self) -> None:
        """Starts the process and returns at once, or when the fork server is ready."""
        with explained_os_errors(self.spec.log):
            self.spec.log.parent.mkdir(parents=True, exist_ok=True)
            rotate(self.spec.log)
            log = self.spec.log.open("ab")
        environment = {**os.environ, **self.spec.environment}
        with log:
            self._log_start = log.tell()
            if self.spec.fork_server is not None:
                self._child = self.spec.fork_server.run(self.spec.command, environment, log.fileno())
            else:
                self._child = self._execute(log, environment)

    def _execute(self, log: IO[bytes], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        self._close_watch_pipe()
        read_end, self._watch_pipe = os.pipe()
        launcher = (sys.executable, "-I", "-S", launch.__file__, self._parent_watch, str(os.getpid()), str(read_end), "--")
        try:
            return subprocess.Popen(
                [*launcher, *self.spec.command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
                pass_fds=(read_end,) if self._parent_watch == "pipe" else (),
            )
        except BaseException:
            # Of no memory or too many processes. The supervisor tries again and again.
            self._close_watch_pipe()
            raise
        finally:
            os.close(read_end)

    def _shorten_log(self) -> None:
        """Moves the content of a large log to ``.old.log``. The process only appends, so it continues at the new end."""
        log = self.spec.log
        if log.stat().st_size <= ROTATE_BYTES:
            return
        shutil.copyfile(log, _old(log))
        os.truncate(log, 0)
        self._log_start = 0

    def _log_tail(self) -> str:
        """The end of this run's output."""
        try:
            with self.spec.log.open("rb") as log:
                log.seek(max(self._log_start, self.spec.log.stat().st_size - TAIL_BYTES))
                return log.read().decode("utf-8", errors="replace")
        except FileNotFoundError:
            return ""

    async def _ended_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self.wait_ended()
        except TimeoutError:
            return False
        return True

    def _close_watch_pipe(self) -> None:
        if self._watch_pipe is not None:
            os.close(self._watch_pipe)
            self._watch_pipe = None


def rotate(log: Path) -> None:
    """Moves a large log to ``.old.log``, replacing the previous one."""
    if log.exists() and log.stat().st_size > ROTATE_BYTES:
        log.replace(_old(log))


def _old(log: Path) -> Path:
    return log.with_suffix(".old.log")


def describe_exit(code: int) -> str:
    """An exit code in words: ``exit code 1``, ``signal SIGKILL``."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def resident_bytes(pid: int) -> int | None:
    """The resident set size of a process in bytes; None when it has ended."""
    proc = Path("/proc")
    if (proc / "self" / "statm").exists():
        try:
            return int((proc / str(pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (FileNotFoundError, ProcessLookupError):
            return None
    kibibytes = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout.strip()
    return int(kibibytes) * 1024 if kibibytes else None
