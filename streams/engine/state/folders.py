"""Folders in which the workers of this machine keep their local tables."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Final

from streams.errors import WorkersRunningError

_GROUP_FILE: Final = "group"


def tables_folder(data: Path, stage: str) -> Path:
    """The parent folder of a stage's workers."""
    return data / "tables" / stage


@contextmanager
def own_folder(parent: Path, group: str) -> Iterator[Path]:
    """A folder for this worker alone: the first of its group with a free lock, so that a restarted worker finds its tables again.

    A stage can have several groups on a machine, one per generation being built. Their tables have different changelogs.
    """
    number = 0
    while True:
        folder = parent / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            if not try_lock(lock):
                number += 1
                continue
            # A command may have removed the folder between the two steps: then no other process finds this lock file.
            if not _is_in(folder, lock):
                continue
            if not _belongs_to(folder, group):
                number += 1
                continue
            yield folder
            return


def folders_next_to(folder: Path, group: str) -> list[Path]:
    """The folders of other workers of a group on this machine, those that ended included.

    Args:
        folder: One worker's folder.
        group: Its group.
    """
    return [each for each in folder.parent.iterdir() if each != folder and _group_of(each) == group]


@contextmanager
def held_folders(parent: Path) -> Iterator[list[Path]]:
    """Locks the folders of all of a stage's workers on this machine, for a command that needs them stopped.

    A worker that starts in the meantime takes a new folder.

    Raises:
        WorkersRunningError: A worker holds one of them.
    """
    folders = sorted(parent.iterdir()) if parent.is_dir() else []
    with ExitStack() as locks:
        for folder in folders:
            if not try_lock(locks.enter_context((folder / "lock").open("w"))):
                raise WorkersRunningError(f"a worker on this machine uses {folder}: stop it first, then try again")
        yield folders


def remove_folders_of(parent: Path, group: str) -> None:
    """Removes the tables of one group of a stage on this machine. Folders that a worker holds are left.

    Args:
        parent: The parent folder of the stage's workers.
        group: The group.
    """
    for folder in sorted(parent.iterdir()) if parent.is_dir() else []:
        if _group_of(folder) != group:
            continue
        with (folder / "lock").open("w") as lock:
            if try_lock(lock):
                shutil.rmtree(folder)


def _belongs_to(folder: Path, group: str) -> bool:
    """Whether a locked folder belongs to a group; a new folder is assigned to it."""
    owner = _group_of(folder)
    if owner is None:
        (folder / _GROUP_FILE).write_text(group)
    return owner in (None, group)


def _group_of(folder: Path) -> str | None:
    """The group whose workers use a folder; None while it is new, or has just been removed."""
    try:
        return (folder / _GROUP_FILE).read_text()
    except (FileNotFoundError, NotADirectoryError):
        return None


def try_lock(lock: IO[str], *, shared: bool = False) -> bool:
    """Takes a lock; returns False if another process has it.

    Args:
        lock: The open file of the lock.
        shared: Whether other processes may take it in the same way at the same time.
    """
    try:
        fcntl.flock(lock, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_in(folder: Path, lock: IO[str]) -> bool:
    """Whether an open lock is the folder's current lock file."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), (folder / "lock").stat())
    except FileNotFoundError:
        return False
