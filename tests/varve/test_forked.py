"""Commands that are forked from a process with Varve loaded: output, exit codes, signals, and no command left running."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests.varve.varve_process import living, wait_until
from varve.supervisor.forked import ForkedCommand, ForkServer
from varve.supervisor.process import NATIVE_PARENT_WATCH

pytestmark = pytest.mark.skipif(NATIVE_PARENT_WATCH != "kernel", reason="forks end with their parent on Linux only")

NOWHERE = {"VARVE_KAFKA__BOOTSTRAP": "127.0.0.1:1"}
"""A worker waits for Kafka, and then for longer than a test takes."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    server = ForkServer(tmp_path_factory.mktemp("server") / "server.log")
    yield server
    server.stop()


def test_output_and_exit_code_are_those_of_the_command(server: ForkServer, tmp_path: Path) -> None:
    wrong = _run(server, tmp_path / "wrong", "worker", "nonsense")
    help_of = _run(server, tmp_path / "help", "worker", "--help")
    assert [_ended(wrong), _ended(help_of)] == [1, 0]
    assert (tmp_path / "wrong").read_text().startswith("varve: there is no stage 'nonsense'")
    assert "Run one worker of a stage" in (tmp_path / "help").read_text()


def test_a_command_has_its_own_variables_session_and_name(server: ForkServer, tmp_path: Path) -> None:
    command = _run(server, tmp_path / "log", "worker", "sessions", environment=NOWHERE)
    process = psutil.Process(command.pid)
    wait_until(lambda: process.name() == "varve sessions", seconds=60, failure=process.name)
    assert os.getsid(command.pid) == command.pid != os.getsid(0)
    assert command.poll() is None
    command.send_signal(signal.SIGKILL)
    assert _ended(command) == -signal.SIGKILL


def test_a_killed_server_ends_its_commands_and_is_replaced(server: ForkServer, tmp_path: Path) -> None:
    with _frozen_command(server, tmp_path / "log") as (command, process):
        parent = process.parent()
        assert parent is not None
        assert parent.num_threads() == 1, "a fork has only the thread that forked"
        parent.kill()
        assert _ended(command) == -signal.SIGKILL
        wait_until(lambda: not living([process]), seconds=30, failure=process.status)
    assert _ended(_run(server, tmp_path / "log", "worker", "--help")) == 0


def test_a_stopped_server_leaves_no_command(server: ForkServer, tmp_path: Path) -> None:
    with _frozen_command(server, tmp_path / "log") as (command, process):
        server.stop()
        wait_until(lambda: not living([process]), seconds=30, failure=process.status)
        assert _ended(command) == -signal.SIGKILL


def test_a_first_text_waits_for_no_rules() -> None:
    code = """
from memory.texts import prefiltered_patterns
from varve.supervisor import fork_server
fork_server._load()
assert prefiltered_patterns._PREFILTER._index is not None
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@contextmanager
def _frozen_command(server: ForkServer, log: Path) -> Iterator[tuple[ForkedCommand, psutil.Process]]:
    """A worker that does not end by itself."""
    command = _run(server, log, "worker", "sessions", environment=NOWHERE)
    process = psutil.Process(command.pid)
    wait_until(lambda: process.name() == "varve sessions", seconds=60, failure=process.name)
    command.send_signal(signal.SIGSTOP)
    try:
        yield command, process
    finally:
        with suppress(ProcessLookupError):
            command.send_signal(signal.SIGKILL)


def _run(server: ForkServer, log: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> ForkedCommand:
    with log.open("ab") as file:
        return server.run(arguments, {**os.environ, **(environment or {})}, file.fileno())


def _ended(command: ForkedCommand) -> int:
    wait_until(lambda: command.poll() is not None, seconds=60, failure=lambda: command.pid)
    code = command.poll()
    assert code is not None
    return code
