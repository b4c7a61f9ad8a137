"""Export files: JSON arrays, JSON objects with an array, JSON lines, and text, plain, in a ZIP archive or in a folder.

One item or line at a time is in memory.
"""

import hashlib
import lzma
import re
import zipfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

from varve.errors import ImportFileError
from varve.imports.json_values import JsonValueError, fields_of, is_page, values_of

_BLOCK: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"
_ZIP: Final = b"PK\x03\x04"
_OTHER_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_LONGEST_LINE: Final = 1 << 20
_DAMAGED: Final = (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error, lzma.LZMAError, EOFError)
_TOTALS: Final = ("count", "total_count")
"""Fields of a page with the number of items of the whole list."""
_NEXT: Final = "next"
"""Field of a page with the address of the next one."""
_PAGE_FIELDS: Final = (*_TOTALS, _NEXT)
_MAC_FOLDER: Final = "__MACOSX/"
"""Folder that macOS adds to archives, with files that are no part of the export."""
_CONVERSATIONS: Final = re.compile(r"(.*/)?conversations(-\d+)?\.json")
"""The members of an archive that have conversations; a large account has several."""


@dataclass(frozen=True, slots=True)
class Item:
    """A value of a file."""

    value: Any
    place: str
    """File and number of the value, for errors."""


@dataclass(frozen=True, slots=True)
class ExportFile:
    """A file, an archive or a folder that another service exported.

    Args:
        path: The file or folder.
    """

    path: Path

    def digest(self) -> str:
        """SHA-256 (hex) of the content.

        Raises:
            ImportFileError: If the file cannot be read.
        """
        found = hashlib.sha256()
        with self._readable():
            if not self.path.is_dir():
                _add_content(found, self.path)
                return found.hexdigest()
            for name in self._names():
                found.update(name.encode() + b"\0")
                _add_content(found, self.path / name)
        return found.hexdigest()

    def names(self) -> list[str]:
        """The files in the archive or folder, with their paths in it; empty for a plain file.

        Raises:
            ImportFileError: If the archive cannot be read.
        """
        with self._readable():
            return self._names()

    def place(self, member: str | None) -> str:
        """The name of a file in errors.

        Args:
            member: Its path in the archive or folder. Default: the file itself.
        """
        return str(self.path) if member is None else f"{self.path}, {member}"

    def lines(self, member: str | None = None) -> Iterator[tuple[int, str]]:
        """The lines of a text in UTF-8 without their ends, numbered from 1.

        Args:
            member: The path of the text in the archive or folder. Default: the file itself.

        Raises:
            ImportFileError: If the text cannot be read, is not in UTF-8, or has a line above 1 MiB; says where.
        """
        with self._readable(), self._opened(member) as stream:
            number = 0
            while raw := stream.readline(_LONGEST_LINE + 1):
                number += 1
                if number == 1 and raw.startswith(_OTHER_MARKS):
                    raise ImportFileError(f"{self.place(member)} is not in UTF-8: convert it, for example with `iconv -f UTF-16 -t UTF-8`")
                if len(raw) > _LONGEST_LINE:
                    raise ImportFileError(f"{self.place(member)}, line {number}: longer than {_LONGEST_LINE} bytes; is --format right?")
                try:
                    yield number, raw.removeprefix(_BOM if number == 1 else b"").decode().removesuffix("\n").removesuffix("\r")
                except UnicodeDecodeError as error:
                    raise ImportFileError(
                        f"{self.place(member)}, line {number}: not in UTF-8: convert the file, for example with `iconv -t UTF-8`"
                    ) from error

    def items(self, arrays: Collection[str] = (), *, members: Sequence[str] | None = None) -> Iterator[Item]:
        """The values in the file, in order.

        Args:
            arrays: Fields of a JSON object that is a page of a list: the items of the first such array are the values.
            members: Files of the archive or folder to read. Default: those with conversations.

        Raises:
            ImportFileError: If the file cannot be read, or is no JSON; says where.
        """
        with self._readable():
            for member in self._members() if members is None else members:
                name = self.place(member)
                number = 0
                try:
                    for number, value in enumerate(values_of(partial(self._opened, member), arrays), start=1):
                        yield Item(value, f"{name}, item {number}")
                except JsonValueError as error:
                    raise ImportFileError(f"{name}, item {number + 1}: {error}") from error

    def on_other_pages(self, arrays: Collection[str], read: int) -> int:
        """The number of items that the list has on other pages, if the file is a page of the other service's API; 1 if it is unknown.

        Args:
            arrays: As for :meth:`items`.
            read: The number of items on this page.

        Raises:
            ImportFileError: If the file cannot be read.
        """
        with self._readable():
            if self._members() != [None]:
                return 0
            opened = partial(self._opened, None)
            if not is_page(opened, arrays):
                return 0
            fields = fields_of(opened, _PAGE_FIELDS)
        total = next((int(fields[name]) for name in _TOTALS if isinstance(fields.get(name), int | Decimal)), None)
        if total is None:
            return 1 if isinstance(fields.get(_NEXT), str) else 0
        return max(0, total - read)

    def _is_archive(self) -> bool:
        with self.path.open("rb") as file:
            return file.read(len(_ZIP)) == _ZIP

    def _names(self) -> list[str]:
        if self.path.is_dir():
            return sorted(each.relative_to(self.path).as_posix() for each in self.path.rglob("*") if each.is_file())
        if not self._is_archive():
            return []
        with zipfile.ZipFile(self.path) as archive:
            return sorted(name for name in archive.namelist() if not name.endswith("/") and not name.startswith(_MAC_FOLDER))

    def _members(self) -> list[str | None]:
        with self.path.open("rb") as file:
            start = file.read(len(_ZIP))
        if start.startswith(_OTHER_MARKS):
            raise ImportFileError(f"{self.path} is not in UTF-8: convert it, for example with `iconv -f UTF-16 -t UTF-8`")
        if start != _ZIP:
            return [None]
        with zipfile.ZipFile(self.path) as archive:
            members = sorted(name for name in archive.namelist() if _CONVERSATIONS.fullmatch(name))
        if not members:
            raise ImportFileError(f"{self.path} has no conversations.json: unpack it, and import the JSON file in it")
        return [*members]

    @contextmanager
    def _opened(self, member: str | None) -> Iterator[IO[bytes]]:
        """The bytes of a file, without a byte order mark."""
        if member is None:
            with self.path.open("rb") as file:
                if file.read(len(_BOM)) != _BOM:
                    file.seek(0)
                yield file
            return
        if self.path.is_dir():
            with (self.path / member).open("rb") as file:
                yield file
            return
        with zipfile.ZipFile(self.path) as archive, archive.open(member) as file:
            yield file

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ImportFileError(f"{self.path} cannot be read: {error.strerror or error}") from error
        except JsonValueError as error:
            raise ImportFileError(f"{self.path}: {error}") from error
        except _DAMAGED as error:
            raise ImportFileError(f"{self.path} is a damaged or encrypted ZIP archive: {error}") from error


def _add_content(found: "hashlib._Hash", path: Path) -> None:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
