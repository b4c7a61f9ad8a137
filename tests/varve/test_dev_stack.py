"""``varve dev`` as a person uses it: the whole stack, its parts killed, itself killed, and started again."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import orjson
import pytest

from tests.varve.varve_process import VarveProcess, living, logs_of, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

READY = "all parts are ready"
PROCESSES = {
    "kafka",
    "redis",
    "edge",
    "fork-server",
    "sessions",
    "extraction",
    "events",
    "entities",
    "merging",
    "index",
    "recalls",
    "service",
}
MESSAGES = [
    {
        "user": "u",
        "session": "s",
        "id": "m1",
        "speaker": "Ann",
        "text": "I moved to Bergen last week.",
        "event_time": "2024-05-02T10:00:00Z",
    },
    {"user": "u", "session": "s", "id": "m2", "speaker": "Ann", "text": "My cat is called Pixel.", "event_time": "2024-05-02T10:00:20Z"},
]


def test_messages_survive_a_restart_and_no_process_a_kill(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with VarveProcess("dev", "--data", str(data), output=tmp_path / "first") as dev:
        dev.wait_for_output(READY)
        family = dev.family()
        assert len(family) == len(PROCESSES)
        assert f"process {dev.process.pid}) works on {data}" in _refusal(data)

        next(process for process in family if process.name() == "varve sessions").kill()
        dev.wait_for_output("sessions: ready again")
        file = tmp_path / "messages.jsonl"
        file.write_bytes(b"\n".join(map(orjson.dumps, MESSAGES)))
        assert _varve(data, "send", str(file), "--flush") == "2 messages sent\n"
        wait_until(lambda: "m2" in _recall(data, "the name of the cat"), seconds=120, failure=lambda: logs_of(data))
        assert "sessions" in _varve(data, "status")
        assert "merging" in _watched(data)
        assert _open_to_others(data) == []

        family = dev.family()
        dev.process.send_signal(signal.SIGINT)
        wait_until(lambda: not (data / "stack.json").exists(), seconds=60, failure=lambda: dev.output)
        restarted = VarveProcess("dev", "--data", str(data), output=tmp_path / "second")
        assert dev.process.wait(120) == 0
        assert living(family) == []

    with restarted as dev:
        dev.wait_for_output("redis: ready")  # a question waits for the rest
        assert "m2" in _recall(data, "the name of the cat")
        assert "m2" in _recall(data, "the name of the cat", "--profile", "memx")
        assert _recall(data, "the name of the cat", "--as-of", "2000-01-01") == []
        dev.wait_for_output(READY)
        family = dev.family()
        assert len(family) == len(PROCESSES)
        os.kill(dev.process.pid, signal.SIGKILL)
        dev.process.wait()
    wait_until(lambda: not living(family), seconds=30, failure=lambda: [process.cmdline() for process in living(family)])


def test_a_terminated_start_stops_all_started_processes(tmp_path: Path) -> None:
    with VarveProcess("dev", "--data", str(tmp_path / "data"), output=tmp_path / "output") as dev:
        dev.wait_for_output("redis: ready")
        family = dev.family()
        dev.process.send_signal(signal.SIGTERM)
        assert dev.process.wait(120) == 0
    assert living(family) == []


def _open_to_others(data: Path) -> list[str]:
    """The folders, files and sockets that not only their owner may use."""
    return [f"{path} {path.stat().st_mode:o}" for path in (data, *data.rglob("*")) if path.exists() and path.stat().st_mode & 0o077]


def _refusal(data: Path) -> str:
    done = subprocess.run([sys.executable, "-m", "varve", "dev", "--data", str(data)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stderr


def _varve(data: Path, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", "varve", *arguments, "--data", str(data)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + logs_of(data)
    return done.stdout


def _recall(data: Path, query: str, *options: str) -> list[str]:
    """The evidence of the best result."""
    results = orjson.loads(_varve(data, "recall", query, "--json", *options))["results"]
    return list(results[0]["evidence"]) if results else []


def _watched(data: Path) -> str:
    """The screens that ``varve status --watch`` draws on a terminal until it is interrupted, at least two."""
    terminal, other_end = pty.openpty()
    command = [sys.executable, "-m", "varve", "status", "--watch", "--over", "0.2", "--data", str(data)]
    drawn = b""
    with subprocess.Popen(command, stdout=other_end, stderr=other_end, env={**os.environ, "TERM": "xterm", "COLUMNS": "200"}) as process:
        os.close(other_end)
        try:
            while drawn.count(b"merging") < 2:
                is_there, _, _ = select.select([terminal], [], [], 120)
                assert is_there, drawn
                drawn += os.read(terminal, 65536)
            process.send_signal(signal.SIGINT)
            deadline = time.monotonic() + 60
            with suppress(OSError):  # the other end is closed
                while time.monotonic() < deadline and select.select([terminal], [], [], 1)[0]:
                    os.read(terminal, 65536)
            assert process.wait(60) == 0
        finally:
            process.kill()  # it may wait for a terminal that nobody reads any more
            os.close(terminal)
    return drawn.decode()
