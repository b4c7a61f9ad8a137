"""Threads of NumPy, in a separate process, since they start when NumPy is imported."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

_TASKS: Final = Path("/proc/self/task")
_COMMAND: Final = """
import sys
from pathlib import Path
from varve.cli import main
sys.argv = ["varve", "--version"]
try:
    main()
except SystemExit:
    pass
before = len(list(Path("/proc/self/task").iterdir()))
import numpy
print(len(list(Path("/proc/self/task").iterdir())) - before)
"""


def _threads_of_numpy(**environment: str) -> int:
    """The threads that NumPy starts in a process of the command line."""
    inherited = {name: each for name, each in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", _COMMAND], env={**inherited, **environment}, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1])


@pytest.mark.skipif(not _TASKS.exists(), reason="only Linux lists a process's threads here")
def test_a_process_of_varve_starts_no_threads_for_matrices() -> None:
    assert _threads_of_numpy() == 0


@pytest.mark.skipif(not _TASKS.exists() or (os.cpu_count() or 1) < 2, reason="a machine with one core has no other threads")
def test_the_operator_may_set_threads_for_matrices() -> None:
    assert _threads_of_numpy(OPENBLAS_NUM_THREADS="2") == 1
