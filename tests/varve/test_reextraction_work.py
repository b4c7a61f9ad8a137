"""The worker that ``varve generations start`` leaves running on this machine."""

import os
import re
import signal
from pathlib import Path

import pytest

from runtime.settings import Settings
from varve.cli.reextraction_work import spawn_worker


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the worker outlives the command on purpose
def test_live_stages_have_priority_over_the_worker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spawn_worker(Settings(data=tmp_path), "v2")
    found = re.search(r"process (\d+)", capsys.readouterr().out)
    assert found is not None
    worker = int(found[1])
    try:
        assert os.getpriority(os.PRIO_PROCESS, worker) >= 10
    finally:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
