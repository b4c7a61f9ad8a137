"""One supervisor per data folder."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from varve.errors import FolderInUseError
from varve.supervisor.start_errors import explained_os_errors

_PATIENCE_S: Final = 0.3


@contextmanager
def exclusive_lock(folder: Path) -> Iterator[None]:
    """Locks a folder for this process (``flock``). The kernel releases the lock when the process ends, however it ends.

    Raises:
        FolderInUseError: If another process holds the lock; names the process.
        AccessDeniedError: If the folder cannot be written.
        DiskFullError: If there is no space in it.
    """
    path = folder / "stack.lock"
    with explained_os_errors(path):
        folder.mkdir(parents=True, exist_ok=True)
        lock = path.open("a+")
    with lock:
        try:
            _lock_soon(lock)
        except BlockingIOError as error:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise FolderInUseError(
                f"another `varve dev` (process {holder}) works on {folder}: stop it, or choose another folder with --data"
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _lock_soon(lock: IO[str]) -> None:
    """Takes the lock; :func:`is_locked` of another process may have it for an instant."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def is_locked(folder: Path) -> bool:
    """Whether a process holds the folder's lock: a stack starts, runs or stops there."""
    try:
        lock = (folder / "stack.lock").open()
    except OSError:
        return False
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
