"""The command line: quick help, one sentence for an error, no secret shown."""

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from varve.cli.application import app
from varve.cli.groups import PURPOSES

HEAVY = {"faust", "aiokafka", "fastapi", "openai", "ctranslate2", "qdrant_client", "redis", "pydantic"}


def varve(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "varve", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=120,
    )


def test_help_names_the_commands_and_loads_nothing_heavy() -> None:
    code = "import sys, varve.cli; print(' '.join(sys.modules))"
    loaded = set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())
    assert not loaded & HEAVY
    output = varve("--help").stdout
    for command in ("dev", "demo", "worker", "serve", "topics", "send", "recall", "status", "config", "tenants"):
        assert f" {command} " in output


def test_a_client_command_loads_no_server_part() -> None:
    code = """
import sys
from contextlib import suppress
from varve.cli import main, send_and_recall
send_and_recall._with_content([{"content": "city: Bergen"}])
sys.argv = ["varve", "recall", "who?"]
with suppress(SystemExit):
    main()
print(" ".join(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "no API key" in done.stderr
    assert not set(done.stdout.split()) & {"numpy", "redis", "aiokafka", "control", "retrieval.pipeline", "streams", "memory.records"}


def test_each_command_has_one_purpose() -> None:
    named = [name for names in PURPOSES.values() for name in names]
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert sorted(named) == sorted(commands), "name the command in PURPOSES of varve/cli/groups.py"


@pytest.mark.parametrize(
    ("arguments", "environment", "sentence"),
    [
        (("worker", "nonsense"), {}, "there is no stage 'nonsense'"),
        (("send", "nowhere.json"), {}, "nowhere.json cannot be read"),
        (("config",), {"VARVE_KAFKA__PARTITIONS": "none"}, "kafka.partitions: Input should be a valid integer"),
        (("recall", "who?"), {}, "no API key"),
        (("context", "who?"), {}, "no API key"),
        (("memories", "show", "some-id"), {}, "no API key"),
        (("prompt", "nonsense"), {}, "'nonsense' is neither a file nor a shipped schema; expected one of: agent_tools"),
        (("apply", "-f", "nowhere.yaml"), {}, "nowhere.yaml cannot be read"),
        (("demo", "--scenario", "nonsense"), {}, "there is no scenario 'nonsense'"),
        (("erase", "acme"), {}, "no user is given"),
        (("erase", "acme", "--from", "nowhere.txt"), {}, "nowhere.txt cannot be read"),
    ],
)
def test_an_error_is_one_sentence_and_exit_code_1(
    arguments: tuple[str, ...], environment: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    result = varve(*arguments, VARVE_DATA=str(tmp_path), **environment)
    assert result.returncode == 1
    assert sentence in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_full_disk_is_one_sentence() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "varve", "methods", "list"]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (1, "varve: No space left on device: the output of this command is not complete\n")


def test_a_signal_that_compiled_code_replaces_ends_quietly() -> None:
    code = """
import signal
from varve.cli import application

def app():
    try:
        signal.raise_signal(signal.SIGTERM)
    except SystemExit as error:
        raise ValueError("as pydantic does while it builds a validator") from error

application.app = app
application.main()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (128 + signal.SIGTERM, "")


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("tenant", "Did you mean 'tenants'?"),
        ("keys create", "`varve keys --help` lists all commands."),
        ("dlq lst", "Did you mean 'list'?"),
        ("letters", "Did you mean 'dlq'?"),
        ("dead-letters", "Did you mean 'dlq'?"),
        ("xyzzy", "`varve --help` lists all commands."),
    ],
)
def test_an_unknown_command_names_those_that_fit(command: str, hint: str) -> None:
    result = varve(*command.split(), COLUMNS="200")
    assert result.returncode == 2
    assert f"No such command '{command.split()[-1]}'. {hint}" in result.stderr


def test_the_version_is_the_packages_version() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert varve("--version").stdout == f"varve {project['version']}\n"


def test_config_masks_secrets(tmp_path: Path) -> None:
    output = varve("config", VARVE_DATA=str(tmp_path), VARVE_KAFKA__PARTITIONS="3", VARVE_LLM__API_KEY="hush").stdout
    assert "VARVE_KAFKA__PARTITIONS=3\n" in output
    assert "hush" not in output
