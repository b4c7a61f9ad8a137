"""Every command ends on SIGINT and SIGTERM within seconds, at whatever moment: also one that waits for a broker that never answers.

Commands and their parameters are read from the command line itself, so that a new command is covered. Each is interrupted at one moment
here; ``make signals`` interrupts each at many.
"""

import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
import typer.main

from memory.schema import sample_conversation
from runtime.interruption import GRACE_S
from varve.cli.application import app

pytestmark = pytest.mark.timeout(1800)

Command = tuple[str, ...]

DEADLINE_S: Final = GRACE_S + 15
"""A command has ended by then: a loaded machine needs some seconds even for what takes none."""
MOMENTS_S: Final = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5)
IS_SWEEP: Final = "VARVE_SIGNAL_SWEEP" in os.environ
VALUES: Final = {
    "stage": "sessions",
    "file": "messages.jsonl",
    "query": "who?",
    "tenant": "acme",
    "schema": "companion",
    "ref": "companion",
    "at": "varve.messages/0",
    "memory_id": "6f1c1a3e-5d5b-5c11-8a2e-0d7f3f0c9a01",
    "entity_type": "profile",
    "key": "ada",
    "key_id": "k1",
    "name": "v2",
    "user": "ada",
    "position": "0/0",
    "out": "profiles.json",
    "session": "s1",
    "message_id": "m1",
    "text": "I moved to Bergen.",
    "method": "memgpt",
    "one": "memgpt",
    "other": "vikingmem",
    "form": "mem0",
    "url": "https://8.8.8.8/varve",
    "webhook_id": "wh_5f2c9a01b7e4d836",
    "reason": "case 17",
}
"""Values of required parameters, by name."""
OPTIONS: Final[dict[Command, Command]] = {
    ("erase",): ("ada", "--yes"),
    ("extract",): ("--dry-run",),
    ("apply",): ("--dry-run",),
    ("memories", "correct"): ("--content", "Ada lives in Bergen."),
    ("memories", "delete"): ("--yes",),
    ("dlq", "redrive"): ("--all",),
    ("dlq", "purge"): ("--all",),
    ("tenants", "set"): ("--weight", "2"),
    ("generations", "start"): ("--yes",),
    ("topics", "grow"): ("--partitions", "24"),
}
"""Further arguments of commands."""
FILES: Final[dict[Command, str]] = {("apply",): "documents.json", ("import",): "export.json"}
"""The files of commands that take other files than messages."""
ENDLESS: Final[frozenset[Command]] = frozenset({("dev",), ("worker",), ("serve",), ("canary",), ("reindex",), ("generations", "work")})
"""Commands that run until a signal, which is no failure."""
ENVIRONMENT: Final[dict[Command, dict[str, str]]] = {
    ("tenants", "promote"): {"VARVE_STORE__KIND": "server", "VARVE_STORE__URL": "http://{mute}"},
    ("fetch",): {"VARVE_CACHE": "{folder}/cache"},
}
"""Further environment variables of commands."""
LOCAL: Final[frozenset[Command]] = frozenset(
    {
        ("config",),
        ("prompt",),
        ("extract",),
        ("apply",),
        ("tenants", "signing-secret"),
        ("methods", "list"),
        ("methods", "show"),
        ("methods", "diff"),
    }
)
"""Ask nobody, and end of themselves before long."""


def _commands(group: Any, path: Command = ()) -> Iterator[tuple[Command, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS: Final = dict(_commands(typer.main.get_command(app)))


def _arguments(path: Command, folder: Path) -> list[str]:
    arguments = [*path]
    for parameter in COMMANDS[path].params:
        if parameter.required:
            assert parameter.name in VALUES, f"say in VALUES what to give `varve {' '.join(path)}` for {parameter.name!r}"
            is_option = any(name.startswith("-") for name in parameter.opts)
            value = FILES.get(path, VALUES["file"]) if parameter.name == "file" else VALUES[parameter.name]
            arguments += [parameter.opts[0], value] if is_option else [value]
        elif parameter.name == "data" and path != ("demo",):
            arguments += ["--data", str(folder / "data")]
    return [*arguments, *OPTIONS.get(path, ())]


class Zygote:
    """Runs commands, and interrupts them."""

    def __init__(self, folder: Path, bootstrap: str) -> None:
        self._folder = folder
        self._mute = bootstrap
        self._environment = {
            "VARVE_KAFKA__BOOTSTRAP": bootstrap,
            "VARVE_REDIS__URL": f"redis://{bootstrap}/0",
            "VARVE_CLIENT__URL": f"http://{bootstrap}",
            "VARVE_CLIENT__API_KEY": "key",
            "VARVE_METRICS_PORT": "0",
            "VARVE_STORE__SOCKET": str(folder / "edge.sock"),
            "VARVE_SIGNING__SECRET": "hush" * 8,
            "https_proxy": f"http://{bootstrap}",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.varve.command_zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[2])},
        )

    def interrupted(self, path: Command, number: signal.Signals, after_s: float) -> tuple[dict[str, Any], str]:
        """How a command ended, and what it wrote."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        output = self._folder / "output"
        shown = {name: value.format(mute=self._mute, folder=self._folder) for name, value in ENVIRONMENT.get(path, {}).items()}
        request = {
            "arguments": _arguments(path, self._folder),
            "environment": {**self._environment, **shown},
            "folder": str(self._folder),
            "output": str(output),
            "signal": number,
            "after_s": after_s,
            "deadline_s": DEADLINE_S,
        }
        self._process.stdin.write(orjson.dumps(request) + b"\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = orjson.loads(self._process.stdout.readline())
        return answer, output.read_text(errors="replace")

    def close(self) -> None:
        """Ends it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(60)


@pytest.fixture(scope="module")
def zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    folder = tmp_path_factory.mktemp("commands")
    turns = [{**turn, "id": f"m{number}", "user": "ada"} for number, turn in enumerate(sample_conversation("companion"))]
    (folder / "messages.jsonl").write_bytes(b"\n".join(map(orjson.dumps, turns)))
    (folder / "documents.json").write_bytes(orjson.dumps({"apiVersion": "varve/v1", "kind": "Tenant", "name": "acme"}))
    (folder / "export.json").write_bytes(orjson.dumps([{"memory": "I like tea.", "user_id": "ada", "created_at": "2024-05-06"}]))
    # Who connects waits for a response forever.
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as mute, socket.socket(socket.AF_UNIX) as store:
        store.bind(str(folder / "edge.sock"))
        store.listen(4096)
        zygote = Zygote(folder, f"127.0.0.1:{mute.getsockname()[1]}")
        yield zygote
        zygote.close()


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_a_command_ends_within_seconds_of_a_signal(zygote: Zygote, path: Command) -> None:
    signals = (signal.SIGINT, signal.SIGTERM)
    every = [(number, moment) for number in signals for moment in MOMENTS_S]
    # The longest moment is when the command waits for the broker; any other one is when it is still on its way there.
    seed = random.Random(" ".join(path))
    for number, after_s in every if IS_SWEEP else [(seed.choice(signals), seed.choice(MOMENTS_S[:-1]))]:
        ended, output = zygote.interrupted(path, number, after_s)
        shown = f"{number.name} after {after_s} s: {ended}\n{output}"
        assert ended["code"] is not None, f"it did not end: {shown}"
        assert "Traceback" not in output, shown
        assert not ended["has_left"], f"a process of it still runs: {shown}"
        if not ended["was_running"]:
            assert path in LOCAL, f"it ended of itself: {shown}"
        elif path in ENDLESS:
            assert ended["code"] in {0, 128 + number}, shown
        elif path not in LOCAL:
            assert ended["code"] == 128 + number, shown
