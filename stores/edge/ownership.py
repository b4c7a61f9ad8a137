"""Makes a process the only owner of a data folder and of a Unix socket."""

import fcntl
import os
import socket
from pathlib import Path
from typing import Final

from stores.errors import OwnershipError

MAX_SOCKET_PATH: Final = 107
"""Linux's limit for the path of a Unix socket, in bytes."""


class FolderLock:
    """The lock on a data folder. The operating system releases it when the process exits or is killed.

    Args:
        folder: The data folder. It is created if it is missing.

    Raises:
        OwnershipError: If another process holds the lock.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / "owner.lock").open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.seek(0)
            holder = self._file.read().strip() or "unknown"
            self._file.close()
            raise OwnershipError(
                f"{folder} already has an owner (process {holder}): only one process may open an Edge shard, stop that one first"
            ) from None
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def release(self) -> None:
        """Releases the lock."""
        self._file.close()


def bind_socket(path: Path) -> socket.socket:
    """Binds a socket that only its user may access. Removes a socket file that a killed process left.

    Raises:
        OwnershipError: If the path is too long, another process listens on it, or it cannot be created.
    """
    if len(os.fsencode(path)) > MAX_SOCKET_PATH:
        raise OwnershipError(
            f"{path} is longer than the {MAX_SOCKET_PATH} bytes of a Unix socket's path: choose a shorter one (VARVE_STORE__SOCKET)"
        )
    if is_served(path):
        raise OwnershipError(f"another process already listens on {path}: stop it first, or choose another socket")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    previous = os.umask(0o177)
    try:
        listening.bind(str(path))
    except OSError as error:
        listening.close()
        raise OwnershipError(f"the socket {path} cannot be created: {error.strerror}") from error
    finally:
        os.umask(previous)
    return listening


def is_served(path: Path) -> bool:
    """Whether a process listens on the socket. An owner listens only once its shard is open."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True
