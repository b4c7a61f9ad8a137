"""The drill of docs/operate/backup-restore.md: a backup is made, data is lost, and the same memories are recalled again."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest
from varve_client import VarveClient

from tests.varve.varve_process import VarveProcess, logs_of, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]

TENANT = "dev"
LEASED = {"VARVE_CONTROL__LEASE_S": "3"}
"""An erasure waits several times until its changes of the control log hold everywhere."""
BEFORE = {"ann": "I moved to Bergen last week.", "gone": "My sister Ruth is a pilot."}
"""Messages of users before the backup."""
SINCE = {"ann": "My cat is called Pixel."}


def test_a_backup_restores_the_same_memories(tmp_path: Path) -> None:
    data, backup = tmp_path / "data", tmp_path / "backup"
    with _dev(data, tmp_path / "first"):
        _send(data, "before", BEFORE)
        _wait_for(data, "ann", "moved to Bergen")
        _wait_for(data, "gone", "pilot")
        at_backup = _digest(data)
    shutil.copytree(data, backup)
    with _dev(data, tmp_path / "second"):
        _send(data, "since", SINCE)
        _wait_for(data, "ann", "Pixel")
        _varve(data, "erase", TENANT, "gone", "--yes", "--reason", "a drill")
        assert "pilot" not in _recalled(data, "gone", "Ruth")
        at_loss = _digest(data)
    assert at_loss != at_backup

    # The vector store is lost: its backup is older than the log.
    shutil.rmtree(data / "edge")
    shutil.copytree(backup / "edge", data / "edge")
    _varve(data, "replay", "index", "--embedded")
    with _dev(data, tmp_path / "third"):
        _wait_for(data, "ann", "Pixel")
        assert _digest(data) == at_loss
        assert "pilot" not in _recalled(data, "gone", "Ruth"), "the erasure came after the backup"

    # All is lost: the log is restored, and everything that follows from it is made again.
    shutil.rmtree(data)
    shutil.copytree(backup, data)
    shutil.rmtree(data / "edge")
    shutil.rmtree(data / "redis")
    _varve(data, "rebuild", "--embedded")
    with _dev(data, tmp_path / "fourth"):
        _wait_for(data, "gone", "pilot")
        assert _digest(data) == at_backup
        _send(data, "since", SINCE)
        _wait_for(data, "ann", "Pixel")
        _varve(data, "erase", TENANT, "gone", "--yes", "--reason", "the erasure since the backup, again")
        assert "pilot" not in _recalled(data, "gone", "Ruth")
        assert _digest(data) == at_loss


@contextmanager
def _dev(data: Path, output: Path) -> Iterator[VarveProcess]:
    with VarveProcess("dev", "--data", str(data), output=output, environment=LEASED) as dev:
        dev.wait_for_output("all parts are ready")
        yield dev
        dev.process.send_signal(signal.SIGTERM)
        assert dev.process.wait(120) == 0


def _send(data: Path, name: str, messages: dict[str, str]) -> None:
    file = data.parent / f"{name}.jsonl"
    lines = [
        {"user": user, "session": f"{name}-{user}", "id": f"{name}-{user}", "text": text, "event_time": "2024-05-02T10:00:00Z"}
        for user, text in messages.items()
    ]
    file.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    _varve(data, "send", str(file), "--flush")


def _recalled(data: Path, user: str, query: str) -> str:
    """The results over HTTP: a command for each look would take more CPU than the stack."""
    stack = orjson.loads((data / "stack.json").read_bytes())
    with VarveClient(stack["service_url"], api_key=stack["api_key"]) as client:
        return " ".join(str(each.content) for each in client.recall(query, user=user).results)


def _wait_for(data: Path, user: str, text: str) -> None:
    wait_until(lambda: text in _recalled(data, user, text), seconds=180, failure=lambda: logs_of(data))


def _digest(data: Path) -> str:
    return _varve(data, "snapshot", TENANT, "--digest").strip()


def _varve(data: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "varve", *arguments, "--data", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | LEASED)
    assert done.returncode == 0, f"{arguments}: {done.stderr}{logs_of(data)}"
    return done.stdout
