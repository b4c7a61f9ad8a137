"""Selects the folder of the engine. A compacted engine replaces the old one atomically."""

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
    """The engine folders in a data folder, of which one is in use.

    An engine remembers its path and creates files there, so its folder cannot be renamed. A small file names the folder in use. Without
    that file it is the first.

    Args:
        data: The data folder.
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
