"""Where the workers of this machine keep their local tables: each in a folder of its own."""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streams.errors import WorkersRunningError


def tables_folder(data: Path, stage: str) -> Path:
    """The folder of all of a stage's workers."""
    return data / "tables" / stage


@contextmanager
def own_folder(parent: Path) -> Iterator[Path]:
    """A folder for this worker alone: the first whose lock is free, so that a restarted worker finds its tables again."""
    number = 0
    while True:
        folder = parent / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                number += 1
                continue
            yield folder
            return


def remove_folders(parent: Path) -> int:
    """Removes all the tables of a stage on this machine; they are recovered from the changelog.

    Returns:
        How many folders there were.

    Raises:
        WorkersRunningError: If a worker holds one.
    """
    folders = sorted(parent.iterdir()) if parent.is_dir() else []
    for folder in folders:
        with (folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise WorkersRunningError(f"a worker of this machine works in {folder}: stop it first, then try again") from error
            shutil.rmtree(folder)
    return len(folders)
