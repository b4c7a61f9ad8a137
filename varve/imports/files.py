"""Export files: JSON arrays, JSON objects with an array, JSON lines, and text, plain, in a ZIP archive or in a folder.

One item or line at a time is in memory.
"""

import hashlib
import math
import re
import zipfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, Final

import ijson

from varve.errors import ImportFileError

_BLOCK: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"
_ZIP: Final = b"PK\x03\x04"
_OTHER_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_DEEPEST: Final = 200
_STEPS: Final = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}
_LONGEST_LINE: Final = 1 << 20
LARGEST_ITEM: Final = 64 << 20
"""Bytes of one value. A small archive can hold one that no memory holds."""
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
                    for number, value in enumerate(self._values(member, arrays), start=1):
                        yield Item(value, f"{name}, item {number}")
                except ijson.JSONError as error:
                    raise ImportFileError(f"{name}, item {number + 1}: {_reason(error)}") from error
                except RecursionError as error:
                    raise ImportFileError(f"{name}, item {number + 1}: nested too deeply") from error
                except _ItemTooLargeError as error:
                    raise ImportFileError(f"{name}, item {number + 1}: larger than {LARGEST_ITEM} bytes; is the file an export?") from error

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
            with self._opened(None) as stream:
                if not _prefix_of(stream, arrays).partition(".")[2]:
                    return 0
            with self._opened(None) as stream:
                fields = {name: value for name, _, value in ijson.parse(_events(stream, multiple_values=False)) if name in _PAGE_FIELDS}
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

    def _values(self, member: str | None, arrays: Collection[str]) -> Iterator[Any]:
        with self._opened(member) as stream:
            prefix = _prefix_of(_BoundedReader(stream), arrays)
        with self._opened(member) as stream:
            bounded = _BoundedReader(stream)
            # Decimals: with floats, ijson refuses integers beyond 64 bits.
            for value in ijson.items(ijson.parse(_events(bounded, multiple_values=not prefix)), prefix):
                bounded.item_ended()
                yield _plain(value)

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
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
            raise ImportFileError(f"{self.path} is a damaged or encrypted ZIP archive: {error}") from error


class _ItemTooLargeError(Exception):
    """A value takes more than :data:`LARGEST_ITEM` bytes."""


class _BoundedReader:
    """Reads a file, and refuses a value that takes too much memory before it is built.

    Args:
        stream: The file.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._left = LARGEST_ITEM

    def read(self, size: int) -> bytes:
        """The next bytes.

        Raises:
            _ItemTooLargeError: If too many have been read since the last value.
        """
        block = self._stream.read(size)
        self._left -= len(block)
        if self._left < 0:
            raise _ItemTooLargeError
        return block

    def item_ended(self) -> None:
        """Begins the next value."""
        self._left = LARGEST_ITEM


def _reason(error: ijson.JSONError) -> str:
    """Why a text is no JSON, in one line. The parser quotes what it cannot decode as bytes."""
    said = str(error)
    if "invalid bytes in UTF8" in said:
        return "not in UTF-8: convert the file, for example with `iconv -f WINDOWS-1252 -t UTF-8`"
    return f"not JSON: {said.splitlines()[0] if said else 'incomplete'}"


def _add_content(found: "hashlib._Hash", path: Path) -> None:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)


def _plain(value: Any) -> Any:
    """The value with floats for decimals. A number that no float can represent stays a text."""
    if isinstance(value, Decimal):
        number = float(value)
        return number if math.isfinite(number) else str(value)
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _events(stream: IO[bytes] | _BoundedReader, *, multiple_values: bool) -> Iterator[tuple[str, Any]]:
    """The events of a JSON text. Deep nesting is refused here: ijson's prefixes take memory by the square of the depth."""
    depth = 0
    for event, value in ijson.basic_parse(stream, multiple_values=multiple_values):
        depth += _STEPS.get(event, 0)
        if depth > _DEEPEST:
            raise RecursionError
        yield event, value


def _prefix_of(stream: IO[bytes] | _BoundedReader, arrays: Collection[str]) -> str:
    """The place of the values, as ijson writes it: in an array, in an array of the first object, or one after the other (empty)."""
    for prefix, event, _ in ijson.parse(_events(stream, multiple_values=True)):
        if not prefix and event == "start_array":
            return "item"
        if event == "start_array" and prefix in arrays:
            return f"{prefix}.item"
        if not prefix and event != "start_map" and event != "map_key":
            break
    return ""
