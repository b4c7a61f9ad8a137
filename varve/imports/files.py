"""Export files: JSON arrays, JSON objects with an array, JSON lines, plain or in a ZIP archive. One item at a time is in memory."""

import hashlib
import math
import re
import zipfile
from collections.abc import Collection, Iterator
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
    """A file that another service exported.

    Args:
        path: The file.
    """

    path: Path

    def digest(self) -> str:
        """SHA-256 (hex) of the content.

        Raises:
            ImportFileError: If the file cannot be read.
        """
        found = hashlib.sha256()
        with self._readable(), self.path.open("rb") as file:
            while block := file.read(_BLOCK):
                found.update(block)
        return found.hexdigest()

    def items(self, arrays: Collection[str] = ()) -> Iterator[Item]:
        """The values in the file, in order.

        Args:
            arrays: Fields of a JSON object that is a page of a list: the items of the first such array are the values.

        Raises:
            ImportFileError: If the file cannot be read, or is no JSON; says where.
        """
        with self._readable():
            for member in self._members():
                name = str(self.path) if member is None else f"{self.path}, {member}"
                number = 0
                try:
                    for number, value in enumerate(self._values(member, arrays), start=1):
                        yield Item(value, f"{name}, item {number}")
                except ijson.JSONError as error:
                    reason = str(error).splitlines()[0] if str(error) else "incomplete"
                    raise ImportFileError(f"{name}, item {number + 1}: not JSON: {reason}") from error
                except RecursionError as error:
                    raise ImportFileError(f"{name}, item {number + 1}: nested too deeply") from error

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
            prefix = _prefix_of(stream, arrays)
        with self._opened(member) as stream:
            # Decimals: with floats, ijson refuses integers beyond 64 bits.
            yield from map(_plain, ijson.items(stream, prefix, multiple_values=not prefix))

    @contextmanager
    def _opened(self, member: str | None) -> Iterator[IO[bytes]]:
        """The bytes of a file, without a byte order mark."""
        if member is None:
            with self.path.open("rb") as file:
                if file.read(len(_BOM)) != _BOM:
                    file.seek(0)
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


def _plain(value: Any) -> Any:
    """The value with floats for decimals. A number that no float can represent stays a text."""
    if isinstance(value, Decimal):
        number = float(value)
        return number if math.isfinite(number) else str(value)
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _prefix_of(stream: IO[bytes], arrays: Collection[str]) -> str:
    """The place of the values, as ijson writes it: in an array, in an array of the first object, or one after the other (empty)."""
    for prefix, event, _ in ijson.parse(stream, multiple_values=True):
        if not prefix and event == "start_array":
            return "item"
        if event == "start_array" and prefix in arrays:
            return f"{prefix}.item"
        if not prefix and event != "start_map" and event != "map_key":
            break
    return ""
