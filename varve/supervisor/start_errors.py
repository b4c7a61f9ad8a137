"""Clear messages for failed starts: a full disk, a folder without access, a stage that waits for something."""

import ast
import errno
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import orjson

from memory.errors import VarveError
from varve.errors import AccessDeniedError, DiskFullError, StartError

_LEAST_BYTES: Final = 64 * 1024


@contextmanager
def explained_os_errors(path: Path) -> Iterator[None]:
    """Turns an ``OSError`` of a block that writes ``path`` into an error with a clear message.

    Raises:
        DiskFullError: If there is no space.
        AccessDeniedError: If the path cannot be written for another reason.
    """
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DiskFullError(f"cannot write {path}: no space left on the disk; free some, then start again") from error
        raise AccessDeniedError(f"cannot write {path}: {error.strerror}; choose another folder with --data, or change its owner") from error


def file_error_in(log: str, *, name: str, path: Path) -> VarveError | None:
    """The file system error that ended a process, found in its log by the messages of libc and the JVM.

    Args:
        log: The end of the log.
        name: The process's name, for the message.
        path: The log; if the disk is full, it may be empty.
    """
    if "No space left on device" in log or "ENOSPC" in log or (not log.strip() and _is_full(path)):
        return DiskFullError(f"{name} found no space left on the disk of the data folder: free some, then start again")
    if "Permission denied" in log or "AccessDeniedException" in log:
        return AccessDeniedError(f"{name} may not write under the data folder: choose another with --data, or change its owner")
    return None


def _is_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _LEAST_BYTES
    except OSError:
        return False


_EVENT: Final = "retry_scheduled"
_ERROR: Final = re.compile(r""" error=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
"""The form of the console log: a ``repr`` of the text."""


def waiting_stage(log: str, *, name: str, path: Path) -> VarveError | None:
    """The error that explains why a stage is not ready; None if the last line of its log does not say."""
    last = next((line for line in reversed(log.splitlines()) if line.strip()), "")
    error = _error_of(last) if _EVENT in last else None
    return None if error is None else StartError(f"{name} is not ready: {error} (whole log: {path})")


def _error_of(line: str) -> str | None:
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError:
        found = _ERROR.search(line)
        return None if found is None else str(ast.literal_eval(found[1]))
    return str(fields["error"]) if isinstance(fields, dict) and "error" in fields else None
