"""Which folder holds the engine: one that was written anew takes the place of the one before in one step."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import orjson

from stores.edge.durable_file import write_durably

_FIRST: Final = "shard"
_NAME: Final = re.compile(rf"{_FIRST}(?:-(\d+))?")
_FOLDER: Final = "folder"


class EngineFolder:
    """The folders of engines in a data folder, of which one is in use.

    An engine keeps its path and makes files by it, so that its folder cannot be renamed. A small file names the one in use; without it
    that is the first.

    Args:
        data: The data folder.
    """

    def __init__(self, data: Path) -> None:
        self._data = data
        self._file = data / "engine.json"

    @property
    def path(self) -> Path:
        """The folder in use; it may not exist."""
        return self._data / (orjson.loads(self._file.read_bytes())[_FOLDER] if self._file.exists() else _FIRST)

    @property
    def age_s(self) -> float | None:
        """How long ago the folder was taken into use; None: nobody noted it."""
        return time.time() - self._file.stat().st_mtime if self._file.exists() else None

    def spare(self) -> Path:
        """An empty folder for the engine that is to take the place of the one in use."""
        match = _NAME.fullmatch(self.path.name)
        assert match is not None
        folder = self._data / f"{_FIRST}-{int(match[1] or 1) + 1}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def use(self, folder: Path) -> None:
        """Takes a folder into use, for good when it returns. The disk has to have what lies in it.

        Args:
            folder: The first, or one that was made by :meth:`spare`.
        """
        write_durably(self._file, orjson.dumps({_FOLDER: folder.name}))

    def others(self) -> list[Path]:
        """Folders that are not in use: left behind where a process ended in the middle."""
        used = self.path
        return [each for each in self._data.glob(f"{_FIRST}*") if each != used and each.is_dir() and _NAME.fullmatch(each.name)]

    def remove(self) -> None:
        """Removes all of them; the first is in use then."""
        for each in (self.path, *self.others()):
            shutil.rmtree(each, ignore_errors=True)
        self._file.unlink(missing_ok=True)


def removal(folder: Path) -> Iterator[None]:
    """Removes a folder, a file in each step: a large one takes the file system some ten milliseconds."""
    for root, _, names in os.walk(folder):
        for name in names:
            Path(root, name).unlink(missing_ok=True)
            yield
    shutil.rmtree(folder, ignore_errors=True)
