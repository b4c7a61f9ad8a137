"""Claims and suspects of one worker in a file that survives the process, however it ends.

Each has its own slot, written to the page cache by one system call. There is no ``fsync``: a power failure incriminates no record.
"""

import os
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from runtime.logs import logger
from streams.engine.failures.suspects import Claim
from streams.errors import LocalTableError

_log = logger(__name__)

_VERSION: Final = 1
_SLOT: Final = struct.Struct("<IiqqI")
"""Crashes, partition, first and last offset, flags."""
_SUM: Final = struct.Struct("<I")
_SLOT_BYTES: Final = _SLOT.size + _SUM.size
_FREE: Final = bytes(_SLOT_BYTES)
_USED: Final = 1
_ALONE: Final = 2
_RESERVED: Final = 128
"""Slots reserved when the file is created, so that claims fit even if the disk fills up later."""


def read_claims(path: Path, *, group: str, topic: str) -> list[Claim]:
    """Claims that the previous worker left in a file. A file of another group or topic, or a damaged slot, is logged and ignored.

    Raises:
        LocalTableError: The file exists but cannot be read.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LocalTableError(f"{path} cannot be read: {error.strerror}; give the worker access to it, or remove it") from error
    header = _header(group, topic)
    if not content.startswith(header):
        _log.warning("claims_ignored", path=str(path), error="not written by this version for this group and topic")
        return []
    claims = []
    slots = content[len(header) :]
    for start in range(0, len(slots), _SLOT_BYTES):
        slot = slots[start : start + _SLOT_BYTES]
        if slot.count(0) == len(slot):
            continue
        claim = _decoded(slot)
        if claim is None:
            _log.warning("claims_ignored", path=str(path), error="a damaged slot", slot=start // _SLOT_BYTES)
        else:
            claims.append(claim)
    return claims


class ClaimFile:
    """A worker's new file.

    Args:
        path: Its path, in the worker's own folder.
        group: The consumer group.
        topic: Its source.
        claims: Content of the first slots, in this order.

    Raises:
        LocalTableError: The file cannot be written.
    """

    def __init__(self, path: Path, *, group: str, topic: str, claims: Sequence[Claim] = ()) -> None:
        self._path = path
        header = _header(group, topic)
        self._begin = len(header)
        slots = max(_RESERVED, 2 * len(claims))
        self._free = list(range(slots - 1, len(claims) - 1, -1))
        self._size = slots
        # The old file counts until the new one is complete.
        new = path.with_suffix(".new")
        try:
            new.write_bytes(header + b"".join(map(_encoded, claims)) + _FREE * (slots - len(claims)))
            new.replace(path)
            self._file = os.open(path, os.O_WRONLY)
        except OSError as error:
            raise self._error(error) from error

    def put(self, claim: Claim) -> int:
        """Writes a claim; returns its slot.

        Raises:
            LocalTableError: The file cannot be written.
        """
        if not self._free:
            self._free.append(self._size)
            self._size += 1
        slot = self._free.pop()
        self._write(slot, _encoded(claim))
        return slot

    def free(self, slot: int) -> None:
        """Removes a slot's claim.

        Raises:
            LocalTableError: The file cannot be written.
        """
        self._write(slot, _FREE)
        self._free.append(slot)

    def close(self) -> None:
        """Closes the file and keeps its content."""
        os.close(self._file)

    def _write(self, slot: int, content: bytes) -> None:
        try:
            os.pwrite(self._file, content, self._begin + slot * _SLOT_BYTES)
        except OSError as error:
            raise self._error(error) from error

    def _error(self, error: OSError) -> LocalTableError:
        return LocalTableError(f"{self._path} cannot be written: {error.strerror}; free disk space, or give the worker access to it")


def _header(group: str, topic: str) -> bytes:
    return f"varve claims {_VERSION}\n{group}\n{topic}\n".encode()


def _encoded(claim: Claim) -> bytes:
    flags = _USED | (_ALONE if claim.was_alone else 0)
    fields = _SLOT.pack(claim.crashes, claim.partition, claim.first, claim.last, flags)
    return fields + _SUM.pack(zlib.crc32(fields))


def _decoded(slot: bytes) -> Claim | None:
    if len(slot) < _SLOT_BYTES or _SUM.unpack_from(slot, _SLOT.size) != (zlib.crc32(slot[: _SLOT.size]),):
        return None
    crashes, partition, first, last, flags = _SLOT.unpack_from(slot)
    return Claim(partition, first, last, crashes, bool(flags & _ALONE))
