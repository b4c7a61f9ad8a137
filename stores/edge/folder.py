"""The owner's data folder: durable writes, the engine's folder in it, and the lock and socket that make one process the owner."""

import fcntl
import os
import re
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import orjson

from stores.errors import OwnershipError

_FIRST: Final = "shard"
_NAME: Final = re.compile(rf"{_FIRST}(?:-(\d+))?")
_FOLDER: Final = "folder"

MAX_SOCKET_PATH: Final = 107
"""Linux's limit for the path of a Unix socket, in bytes."""

_BLOCK_BYTES: Final = 512
"""Unit of ``st_blocks`` (POSIX), which is the real usage of sparse files."""


def write_durably(path: Path, content: bytes) -> None:
    """Replaces a file atomically, and returns when it is on disk.

    Args:
        path: The file. A temporary file with the suffix ``.new`` is next to it meanwhile.
        content: The whole new content.
    """
    temporary = path.with_suffix(".new")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    write_entries(path.parent)


def write_entries(folder: Path) -> None:
    """Flushes a folder's list of files and folders to disk."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


class EngineFolder:
    """The engine folders in a data folder, of which one is in use.

    An engine remembers its path and creates files there, so its folder cannot be renamed. A small file names the folder in use. Without
    that file it is the first.
    """

    def __init__(self, data: Path) -> None:
        self._data = data
        self._file = data / "engine.json"

    @property
    def path(self) -> Path:
        """The folder in use. It may not exist."""
        return self._data / (orjson.loads(self._file.read_bytes())[_FOLDER] if self._file.exists() else _FIRST)

    @property
    def age_s(self) -> float | None:
        """Time since the folder is in use; None: unknown."""
        return time.time() - self._file.stat().st_mtime if self._file.exists() else None

    def spare(self) -> Path:
        """Creates an empty folder for the engine that will replace the current one."""
        match = _NAME.fullmatch(self.path.name)
        assert match is not None
        folder = self._data / f"{_FIRST}-{int(match[1] or 1) + 1}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def use(self, folder: Path) -> None:
        """Switches to a folder: the first one, or one from :meth:`spare`. Durable on return. The folder's content must be on disk."""
        write_durably(self._file, orjson.dumps({_FOLDER: folder.name}))

    def others(self) -> list[Path]:
        """Folders that are not in use: a process that was killed left them."""
        used = self.path
        return [each for each in self._data.glob(f"{_FIRST}*") if each != used and each.is_dir() and _NAME.fullmatch(each.name)]

    def remove(self) -> None:
        """Removes all folders. Afterwards the first one is in use."""
        for each in (self.path, *self.others()):
            shutil.rmtree(each, ignore_errors=True)
        self._file.unlink(missing_ok=True)


def removal(folder: Path) -> Iterator[None]:
    """Removes a folder, one file per step: a large file takes about ten milliseconds."""
    for root, _, names in os.walk(folder):
        for name in names:
            Path(root, name).unlink(missing_ok=True)
            yield
    shutil.rmtree(folder, ignore_errors=True)


class FolderLock:
    """The lock on a data folder. The operating system releases it when the process exits or is killed.

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


def bytes_on_disk(folder: Path) -> int:
    """Disk usage of all files below a folder, in bytes. Other processes may write and remove files meanwhile."""
    return sum(_blocks(Path(root, name)) * _BLOCK_BYTES for root, _, names in os.walk(folder) for name in names)


def _blocks(file: Path) -> int:
    try:
        return file.stat().st_blocks
    except FileNotFoundError:
        # Stores remove merged files in background threads.
        return 0
