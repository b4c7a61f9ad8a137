"""Keeps what tests write in memory: shards, logs and tables ask the disk to write at each step, and the tests would wait for that.

Processes that tests kill lose nothing by it: a file system in memory outlives them as a disk does.
"""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

import psutil

MEMORY: Final = Path("/dev/shm")
LEAST_BYTES: Final = 12 * 1024**3
"""Free memory from which on a whole run has enough for its processes and its files."""
_PREFIX: Final = "varve-"
"""Short, since a Unix socket's path has 107 bytes at most, and tests have sockets in their folders."""


def enter() -> Path | None:
    """Lets this process and its children make their temporary files in a new folder in memory.

    Returns:
        The folder; None if ``TMPDIR`` names another, or the machine has too little memory.
    """
    if "TMPDIR" in os.environ or not MEMORY.is_dir():
        return None
    for left in MEMORY.glob(f"{_PREFIX}[0-9]*"):
        if not psutil.pid_exists(int(left.name.removeprefix(_PREFIX))):
            _remove(left)
    if min(shutil.disk_usage(MEMORY).free, psutil.virtual_memory().available) < LEAST_BYTES:
        return None
    folder = MEMORY / f"{_PREFIX}{os.getpid()}"
    # Others may not list it, but reach what a test opens to them: `make test-image` runs installed files as another user.
    folder.mkdir(mode=0o711, exist_ok=True)
    os.environ["TMPDIR"], tempfile.tempdir = str(folder), None
    return folder


def leave(folder: Path) -> None:
    """Removes what a run wrote, except the folder of ``multiprocessing``, which needs it to the end of the process and removes it."""
    for each in folder.iterdir():
        if not each.name.startswith("pymp-"):
            _remove(each)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
