"""The ``varve`` command as a child process of a test."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

import psutil


class VarveProcess:
    """A ``varve`` command that runs during the test; killed at the end of the block if it still runs."""

    def __init__(self, *arguments: str, output: Path, environment: Mapping[str, str] | None = None) -> None:
        self._output = output
        with output.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "varve", *arguments],
                stdout=file,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def output(self) -> str:
        """The output so far."""
        return self._output.read_text()

    def wait_for_output(self, text: str, *, seconds: float = 180) -> None:
        """Waits until it has written the text."""
        wait_until(lambda: text in self.output or self.process.poll() is not None, seconds=seconds, failure=lambda: self.output)
        assert text in self.output, self.output

    def family(self) -> list[psutil.Process]:
        """All processes below it."""
        return psutil.Process(self.process.pid).children(recursive=True)


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    """The processes that still run."""
    return [process for process in processes if _lives(process)]


def logs_of(data: Path) -> str:
    """The ends of the logs of a stack, for the message of a failure."""
    return "\n".join(f"== {log.name}\n{log.read_text()[-1500:]}" for log in sorted((data / "logs").glob("*.log")))


def wait_until(condition: Callable[[], bool], *, seconds: float, failure: Callable[[], object]) -> None:
    """Waits for a condition with a deadline. A condition that takes long to ask, such as a command, is asked less often."""
    deadline = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        if condition():
            return
        assert time.monotonic() < deadline, failure()
        time.sleep(max(0.05, time.monotonic() - began))


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
