"""One child process: started, waited for until it is ready, stopped within a deadline."""

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from memory.errors import VarveError
from varve.errors import AccessDeniedError, DiskFullError, StartError
from varve.supervisor import launch

POLL_S: Final = 0.05
TAIL_BYTES: Final = 16_384
ROTATE_BYTES: Final = 16 * 1024 * 1024

Tie = Literal["kernel", "pipe"]
NATIVE_TIE: Final[Tie] = "kernel" if sys.platform == "linux" else "pipe"

Diagnosis = Callable[[str], VarveError | None]


def no_diagnosis(_log: str) -> VarveError | None:
    """For a process whose faults have no words of their own."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """A child process as it has to run."""

    name: str
    command: tuple[str, ...]
    log: Path
    """Where its output goes, appended."""
    ready: Callable[[], Awaitable[bool]]
    """True once it serves. Asked again and again while it starts, never while it runs."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to this process's own environment."""
    start_deadline_s: float = 60.0
    stop_deadline_s: float = 30.0
    """Between the polite signal and the certain one."""
    diagnose: Diagnosis = no_diagnosis
    """Turns the end of its log into an error with a clear sentence, where it can."""


class ManagedProcess:
    """A child process that cannot outlive this one.

    It runs in a session of its own, so that a Ctrl-C in the terminal reaches only the supervisor, which stops its children in order.

    Args:
        spec: What to run.
        tie: How the child's life hangs on this process's: see :mod:`varve.supervisor.launch`.
    """

    def __init__(self, spec: ProcessSpec, *, tie: Tie = NATIVE_TIE) -> None:
        self.spec = spec
        self._tie: Tie = tie
        self._child: subprocess.Popen[bytes] | None = None
        self._log_start = 0
        self._lifeline: int | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._child.pid if self._child is not None and self._child.poll() is None else None

    @property
    def exit_code(self) -> int | None:
        """How the last run ended; negative: by that signal. None: it runs, or has never been started."""
        return None if self._child is None else self._child.poll()

    async def start(self) -> None:
        """Starts the process and waits until it is ready.

        Raises:
            StartError: If it ends or is not ready in time; or the clearer error that the spec's diagnosis finds in its log.
        """
        self.spawn()
        deadline = time.monotonic() + self.spec.start_deadline_s
        try:
            while not await self.spec.ready():
                if self.exit_code is not None:
                    raise self.fault(f"{self.spec.name} ended with {describe_exit(self.exit_code)} while it started")
                if time.monotonic() > deadline:
                    raise self.fault(f"{self.spec.name} was not ready within {self.spec.start_deadline_s:.0f} s")
                await asyncio.sleep(POLL_S)
        except BaseException:
            await self.stop()
            raise

    async def ended(self) -> None:
        """Returns once the process does not run."""
        while True:
            if self.pid is None:
                return
            await asyncio.sleep(POLL_S)

    def spawn(self) -> None:
        """Starts the process and returns at once.

        Raises:
            AccessDeniedError: If its log cannot be written.
            DiskFullError: If there is no space for it.
        """
        with writing(self.spec.log):
            self.spec.log.parent.mkdir(parents=True, exist_ok=True)
            rotate(self.spec.log)
            log = self.spec.log.open("ab")
        self._close_lifeline()
        read_end, self._lifeline = os.pipe()
        launcher = (sys.executable, "-I", "-S", launch.__file__, self._tie, str(os.getpid()), str(read_end), "--")
        with log:
            self._log_start = log.tell()
            self._child = subprocess.Popen(
                [*launcher, *self.spec.command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.spec.environment},
                start_new_session=True,
                pass_fds=(read_end,) if self._tie == "pipe" else (),
            )
        os.close(read_end)

    async def stop(self) -> bool:
        """Asks the process to end, and ends it when it does not within its deadline.

        Returns:
            Whether it ended by itself.
        """
        self.signal(signal.SIGTERM)
        ended = await self._ended_within(self.spec.stop_deadline_s)
        if not ended:
            self.signal(signal.SIGKILL)
            await self._ended_within(self.spec.stop_deadline_s)
        self._close_lifeline()
        return ended

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal, where there is a process to take it."""
        if self._child is not None and self._child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self._child.send_signal(number)

    def fault(self, headline: str) -> VarveError:
        """The error for a process that failed: what its log says of the cause, or the log's last line under the headline."""
        said = self.log_tail()
        last_line = next((line for line in reversed(said.splitlines()) if line.strip()), "it wrote nothing")
        found = self.spec.diagnose(said) or diagnose_files(self.spec.name, said)
        return found or StartError(f"{headline}: {last_line.strip()[:300]} (whole log: {self.spec.log})")

    def log_tail(self) -> str:
        """The end of what this run has written."""
        try:
            with self.spec.log.open("rb") as log:
                log.seek(max(self._log_start, self.spec.log.stat().st_size - TAIL_BYTES))
                return log.read().decode("utf-8", errors="replace")
        except FileNotFoundError:
            return ""

    async def _ended_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self.ended()
        except TimeoutError:
            return False
        return True

    def _close_lifeline(self) -> None:
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None


def rotate(log: Path) -> None:
    """Puts a log that has grown large aside, over the one put aside before."""
    if log.exists() and log.stat().st_size > ROTATE_BYTES:
        log.replace(log.with_suffix(".old.log"))


def describe_exit(code: int) -> str:
    """An exit code in words: ``exit code 1``, ``signal SIGKILL``."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def diagnose_files(name: str, log: str) -> VarveError | None:
    """The faults of the file system that any process may die of, in the words of libc and the JVM."""
    if "No space left on device" in log or "ENOSPC" in log:
        return DiskFullError(f"{name} found no space left on the disk of the data folder: free some, then start again")
    if "Permission denied" in log or "AccessDeniedException" in log:
        return AccessDeniedError(f"{name} may not write under the data folder: choose another with --data, or change its owner")
    return None


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns what the file system refuses into a clear sentence about ``path``."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DiskFullError(f"cannot write {path}: no space left on the disk; free some, then start again") from error
        raise AccessDeniedError(f"cannot write {path}: {error.strerror}; choose another folder with --data, or change its owner") from error
