"""``varve dev --method NAME``: the stages archive what the method names, and recalls return it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.varve.varve_process import VarveProcess, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

TEXT = "The lamp in the hallway flickers again, as it did in March."
MESSAGES = [
    {"user": "u", "session": "s", "id": "m1", "speaker": "Ann", "text": TEXT, "event_time": "2024-05-02T10:00:00Z"},
    {"user": "u", "session": "s", "id": "m2", "speaker": "Ann", "text": "My cat is called Pixel.", "event_time": "2024-05-02T10:00:20Z"},
]


def varve(data: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "varve", *arguments, "--data", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def results(data: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = orjson.loads(varve(data, "recall", "the flickering lamp", "--json"))["results"]
    return found


def test_archived_turns_are_returned_by_a_recall(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with VarveProcess("dev", "--data", str(data), "--method", "memgpt", output=tmp_path / "output") as dev:
        dev.wait_for_output("all parts are ready")
        file = tmp_path / "messages.jsonl"
        file.write_bytes(b"\n".join(map(orjson.dumps, MESSAGES)))
        assert varve(data, "send", str(file), "--flush") == "2 messages sent\n"
        wait_until(lambda: any(each["type"] == "turn" for each in results(data)), seconds=180, failure=lambda: results(data))
        turn = next(each for each in results(data) if each["type"] == "turn")
        assert (turn["content"], turn["evidence"]) == (TEXT, ["m1"])
        assert "companion+memgpt@1" in varve(data, "tenants", "list")

        varve(data, "tenants", "set", "dev", "--method", "memochat")
        assert "companion+memochat@1" in varve(data, "tenants", "list")
