"""A small file that a crash leaves as it was, or as it was to be, and folders that the disk has."""

import os
from pathlib import Path


def write_durably(path: Path, content: bytes) -> None:
    """Writes a file in one step, and returns when the disk has it.

    Args:
        path: The file; ``.new`` takes the place of its suffix while it is written.
        content: All that it is to hold.
    """
    temporary = path.with_suffix(".new")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    write_entries(path.parent)


def write_entries(folder: Path) -> None:
    """Returns when the disk has a folder's entries: which files and folders there are in it."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
