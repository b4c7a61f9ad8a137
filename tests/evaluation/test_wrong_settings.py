"""The development commands name a wrong environment variable in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("command", [("evaluation", "tokens", "--data", "none.json"), ("training", "sift", "curriculum", "--run", "none")])
def test_a_wrong_variable_is_named(command: tuple[str, ...], tmp_path: Path) -> None:
    environment = {**os.environ, "VARVE_LLM__TEMPERATUR": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "VARVE_LLM__TEMPERATUR" in done.stderr
    assert "Traceback" not in done.stderr
