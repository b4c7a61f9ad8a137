"""The protocol between the process that owns an Edge shard and its clients.

A frame is two unsigned 32-bit little-endian lengths, a JSON header of the first length and a binary body of the second. The body holds
32-bit little-endian floats (vectors) and unsigned integers (term numbers), in the order of the header. A client may send the next request
before it has the last response. Responses have the ``id`` of their request. They arrive in the order of the requests, except those to
recalls, which may arrive later. ``abandon`` cancels the recall with the same ``id``: neither gets a response, unless the recall's response
was already sent.
"""

import asyncio
import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import orjson
from pydantic import TypeAdapter

from stores.errors import ModelMismatchError, StoreError, StoreRejectedError, StoreUnavailableError
from stores.filters import MemoryFilter

MAX_FRAME_BYTES: Final = 64 * 1024 * 1024
POINTS_IN_FRAME: Final = 128
"""Most points in one frame: almost three megabytes at 384 dimensions and 40 token vectors of 128."""

_LENGTHS: Final = struct.Struct("<II")

if sys.byteorder != "little":  # pragma: no cover
    raise ImportError("the Edge protocol needs a little-endian machine")


@dataclass(frozen=True, slots=True)
class Frame:
    """One request or response."""

    header: dict[str, Any]
    body: bytes = b""

    def encoded(self) -> bytes:
        """The frame's bytes.

        Raises:
            StoreRejectedError: If the frame exceeds :data:`MAX_FRAME_BYTES`.
        """
        head = orjson.dumps(self.header)
        if len(head) + len(self.body) > MAX_FRAME_BYTES:
            raise StoreRejectedError(
                f"a request of {len(head) + len(self.body)} bytes is larger than the {MAX_FRAME_BYTES} of a frame: send fewer points"
            )
        return b"".join((_LENGTHS.pack(len(head), len(self.body)), head, self.body))


async def read_frame(reader: asyncio.StreamReader) -> Frame | None:
    """The next frame; None if the other side closed the connection between two frames.

    Raises:
        ValueError: If the bytes are not a frame, or the frame is too large.
    """
    try:
        lengths = await reader.readexactly(_LENGTHS.size)
    except asyncio.IncompleteReadError as error:
        if not error.partial:
            return None
        raise
    head_length, body_length = _LENGTHS.unpack(lengths)
    if head_length + body_length > MAX_FRAME_BYTES:
        raise ValueError(f"a frame of {head_length + body_length} bytes is larger than the {MAX_FRAME_BYTES} allowed")
    header = orjson.loads(await reader.readexactly(head_length))
    if not isinstance(header, dict):
        raise ValueError("a frame's header is not a JSON object")
    return Frame(header, await reader.readexactly(body_length) if body_length else b"")


class BodyReader:
    """Reads the numbers of a body in order. Floats are not copied: the engine reads the frame's memory."""

    def __init__(self, body: bytes) -> None:
        if len(body) % 4:
            raise ValueError(f"a body of {len(body)} bytes is not a sequence of 32-bit numbers")
        self._floats = memoryview(body).cast("f")
        self._numbers = memoryview(body).cast("I")
        self._position = 0

    def floats(self, count: int) -> Sequence[float]:
        """The next ``count`` floats."""
        return self._floats[self._advance(count)]

    def rows(self, count: int, width: int) -> list[Sequence[float]]:
        """The next ``count`` rows of ``width`` floats each."""
        if count and not width:
            raise ValueError(f"{count} rows without numbers")
        return [self.floats(width) for _ in range(count)]

    def numbers(self, count: int) -> list[int]:
        """The next ``count`` unsigned integers."""
        return list(self._numbers[self._advance(count)])

    def finish(self) -> None:
        """Checks that the whole body was read.

        Raises:
            ValueError: If the body has more numbers than the header describes.
        """
        if self._position != len(self._floats):
            raise ValueError(f"{len(self._floats) - self._position} numbers of a frame's body are not described in its header")

    def _advance(self, count: int) -> slice:
        start, self._position = self._position, self._position + count
        if count < 0 or self._position > len(self._floats):
            raise ValueError("a frame's body is shorter than its header says")
        return slice(start, self._position)


_FILTER: Final = TypeAdapter(MemoryFilter)
_FILTER_FIELDS: Final = frozenset(each.name for each in fields(MemoryFilter))


def read_filter(values: Mapping[str, Any]) -> MemoryFilter:
    """The filter in a request's header. A header holds a :class:`MemoryFilter`, which orjson writes as an object.

    Raises:
        ValueError: If a field is missing, unknown or of another type. A filter with a missing field would find more than was requested.
    """
    if values.keys() != _FILTER_FIELDS:
        raise ValueError(f"a filter has the fields {', '.join(sorted(_FILTER_FIELDS))}, this one has {', '.join(sorted(values))}")
    return _FILTER.validate_python(values)


_ERRORS: Final[dict[str, type[StoreError]]] = {
    "rejected": StoreRejectedError,
    "mismatch": ModelMismatchError,
    "unavailable": StoreUnavailableError,
}


def error_header(error: Exception) -> dict[str, str]:
    """The fields of a response's header for an error. An error of another package counts as unavailability."""
    code = next((code for code, error_type in _ERRORS.items() if type(error) is error_type), "unavailable")
    return {"error": code, "message": str(error) or repr(error)}


def error_from_header(header: dict[str, Any]) -> StoreError:
    """The error in a response's header."""
    return _ERRORS.get(header["error"], StoreUnavailableError)(header["message"])
