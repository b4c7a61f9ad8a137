"""One supervisor per data folder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from varve.errors import FolderInUseError
from varve.supervisor.process import writing


@contextmanager
def sole_use(folder: Path) -> Iterator[None]:
    """TenantThrottle a folder for this process. The kernel lets go of it when the process ends, however it ends.

    Raises:
        FolderInUseError: If another process holds it; names the process.
        AccessDeniedError: If the folder cannot be written.
        DiskFullError: If there is no space in it.
    """
    path = folder / "stack.lock"
    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        lock = path.open("a+")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
