"""A folder belongs to one worker, or to a command that removes it."""

import fcntl
import shutil
from pathlib import Path
from typing import IO

import pytest

from streams.engine.state.folders import held_folders, own_folder
from streams.errors import WorkersRunningError


def test_a_worker_leaves_a_removed_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flock, locked = fcntl.flock, list[int]()

    def lock(file: IO[str], operation: int) -> None:
        flock(file, operation)
        locked.append(operation)
        if len(locked) == 1:
            shutil.rmtree(tmp_path / "0")

    monkeypatch.setattr(fcntl, "flock", lock)
    with own_folder(tmp_path, "group") as folder:
        assert (folder / "lock").is_file()
        with pytest.raises(WorkersRunningError, match="stop it first"), held_folders(tmp_path):
            pass


def test_a_concurrently_started_worker_uses_a_new_folder(tmp_path: Path) -> None:
    with own_folder(tmp_path, "group"):
        pass
    with held_folders(tmp_path) as held, own_folder(tmp_path, "group") as own:
        assert held == [tmp_path / "0"]
        assert own == tmp_path / "1"
    with held_folders(tmp_path) as held:
        assert held == [tmp_path / "0", tmp_path / "1"]


def test_a_group_takes_no_folder_of_another(tmp_path: Path) -> None:
    with own_folder(tmp_path, "extraction"), own_folder(tmp_path, "extraction.v2"):
        pass
    with own_folder(tmp_path, "extraction.v2") as second, own_folder(tmp_path, "extraction") as first:
        assert (first, second) == (tmp_path / "0", tmp_path / "1")
