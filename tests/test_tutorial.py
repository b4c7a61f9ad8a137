"""The tutorial does what it says: its commands, typed in its order, print what stands below them."""

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from tests.varve.varve_process import VarveProcess, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

ROOT: Final = Path(__file__).parents[1]
BLOCK: Final = re.compile(r'^```(?P<kind>sh|text)(?P<title> title="terminal 1")?\n(?P<body>.*?)^```$', re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[str, list[str]]]:
    """Each command of the second terminal, with what it prints."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.finditer((ROOT / "docs" / "tutorial.md").read_text()):
        if block["kind"] == "text":
            found[-1][1].extend(block["body"].splitlines())
        elif not block["title"]:
            found.append((block["body"], []))
    return found


def test_the_tutorials_commands_print_what_it_says(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "VARVE_DATA": str(tmp_path / ".varve"),
        "COLUMNS": "200",
    }

    def typed(command: str) -> str:
        done = subprocess.run(
            ["bash", "-euc", command], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment, timeout=240
        )
        return " ".join((done.stdout + done.stderr).split())

    outputs: list[str] = []

    def prints(command: str, printed: list[str]) -> bool:
        outputs.append(typed(command))
        return all(line in outputs[-1] for line in printed)

    with VarveProcess("dev", output=tmp_path / "dev.log", environment={"VARVE_DATA": str(tmp_path / ".varve")}) as dev:
        dev.wait_for_output("redis: ready")
        for command, printed in steps():
            wait_until(partial(prints, command, printed), seconds=300, failure=lambda: (outputs[-1:], dev.output))
        dev.process.terminate()
        dev.process.wait(120)
