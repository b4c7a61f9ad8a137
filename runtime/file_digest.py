"""SHA-256 digests of files, which say whether a file is the expected one or has changed."""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal.

    Raises:
        OSError: If the file cannot be read.
    """
    return _digest(path).hex()


def files_sha256(paths: Iterable[Path]) -> str:
    """One SHA-256 over the contents of several files in their order, in hexadecimal.

    Raises:
        OSError: If a file cannot be read.
    """
    return hashlib.sha256(b"".join(_digest(path) for path in paths)).hexdigest()


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
