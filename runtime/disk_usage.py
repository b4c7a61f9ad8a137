"""Disk usage of files."""

import os
from pathlib import Path
from typing import Final

_BLOCK_BYTES: Final = 512
"""Unit of ``st_blocks`` (POSIX), which is the real usage of sparse files."""


def bytes_on_disk(folder: Path) -> int:
    """Disk usage of all files below a folder, in bytes. Other processes may write and remove files meanwhile.

    Args:
        folder: The folder.
    """
    return sum(_blocks(Path(root, name)) * _BLOCK_BYTES for root, _, names in os.walk(folder) for name in names)


def _blocks(file: Path) -> int:
    try:
        return file.stat().st_blocks
    except FileNotFoundError:
        # Stores remove merged files in background threads.
        return 0
