"""What files take on disk."""

import os
from pathlib import Path
from typing import Final

_BLOCK_BYTES: Final = 512
"""What ``st_blocks`` counts in, by POSIX: of files with holes it says what they really take."""


def bytes_on_disk(folder: Path) -> int:
    """What all files below a folder take.

    Args:
        folder: The folder. Others may write and remove files in it meanwhile.
    """
    return sum(_blocks(Path(root, name)) * _BLOCK_BYTES for root, _, names in os.walk(folder) for name in names)


def _blocks(file: Path) -> int:
    try:
        return file.stat().st_blocks
    except FileNotFoundError:
        # Stores remove what they have merged, by threads of their own.
        return 0
