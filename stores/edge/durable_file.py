"""Atomic, durable writes of small files, and durable folders."""

import os
from pathlib import Path


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
