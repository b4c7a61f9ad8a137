"""The progress of a long command: bars on a terminal, and what they count."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from varve.embedded.jars import output_of_fetch
from varve.progress import lag_bars, progress_bar

SLOW_DOWNLOAD = """
import pathlib, sys, time

def wait_for(sign):
    end = time.monotonic() + 60
    while not sign.exists() and time.monotonic() < end:
        time.sleep(0.01)

begin, came, folder = map(pathlib.Path, sys.argv[1:])
wait_for(begin)
folder.mkdir(parents=True)
(folder / "a.jar").touch()
wait_for(came)
print("done")
"""


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_bar_is_drawn_only_on_a_terminal(is_terminal: bool) -> None:
    with io.StringIO() as printed:
        with progress_bar("sending [red]all[/]", 4, console=Console(file=printed, force_terminal=is_terminal, width=80)) as progress:
            progress(1)
            progress(3)
        drawn = printed.getvalue()
    assert ("4/4" in drawn) is is_terminal
    assert ("sending [red]all[/]" in drawn) is is_terminal
    assert bool(drawn.strip()) is is_terminal


@pytest.mark.parametrize("is_terminal", [True, False])
def test_each_lagging_stage_has_a_bar(is_terminal: bool) -> None:
    with io.StringIO() as printed:
        with lag_bars(console=Console(file=printed, force_terminal=is_terminal, width=80)) as tell:
            for stage, lag in (("sessions", 0), ("events", 4), ("events", 6), ("events", 0), ("index", 9), ("index", 1)):
                tell(stage, lag)
        drawn = printed.getvalue()
    for shown in ("events", "6/6", "index", "8/9"):
        assert (shown in drawn) is is_terminal
    assert "sessions" not in drawn, "it never had lag"


def test_jars_are_counted_while_they_download(tmp_path: Path) -> None:
    begin, came, counts = tmp_path / "begin", tmp_path / "came", list[int]()

    def progress(more: int) -> None:
        counts.append(more)
        begin.touch()
        if more:
            came.touch()

    command = [sys.executable, "-c", SLOW_DOWNLOAD, *map(str, (begin, came, tmp_path / "maven" / "org"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert output_of_fetch(process, folder=tmp_path / "maven", progress=progress) == ("done\n", "")
    assert sum(counts) == 1
    assert process.returncode == 0
