"""JSON responses and request bodies, by orjson."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import orjson
from starlette.requests import Request
from starlette.responses import Response

from memory.errors import MalformedRecordError, RecordTooLargeError

UNCOUNTED_BYTES: Final = 1_500_000
"""The size of a record. The separators of a body of one message are not counted."""
MAX_SEPARATORS: Final = 500_000
"""Most commas and opening brackets of a larger body, also in its texts: a value costs as much time as many bytes of text, and a body is
parsed while all other requests wait."""
_LONGEST_NAME: Final = 80
_FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data")


def separators_in(body: bytes) -> int:
    """Commas and opening brackets of a JSON text: it has at most one value more."""
    return sum(map(body.count, b",[{"))


class JsonResponse(Response):
    """A JSON response of plain values, datetimes and dataclasses."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The body's bytes."""
        return to_json(content)


def to_json(content: Any) -> bytes:
    """JSON in UTF-8; datetimes in ISO 8601 with ``Z``."""
    return orjson.dumps(content, option=orjson.OPT_UTC_Z)


async def read_json(request: Request) -> Any:
    """Parses a request's body. Integers of any size keep their value.

    A name that an object has twice is refused: a proxy that checks the first value would let the second one pass.

    Raises:
        MalformedRecordError: If it is not JSON in UTF-8, or names a member twice.
        RecordTooLargeError: If it may have too many values.
    """
    body = await request.body()
    if len(body) > UNCOUNTED_BYTES and separators_in(body) > MAX_SEPARATORS:
        raise RecordTooLargeError(f"the body has more than {MAX_SEPARATORS} commas and opening brackets; send smaller batches")
    try:
        # orjson is strict. But it rounds an integer beyond 64 bits to a float, which must be rejected later and not changed here, and it
        # takes the last of two members with one name.
        orjson.loads(body)
        return json.loads(body, object_pairs_hook=_members)
    except orjson.JSONDecodeError as error:
        raise MalformedRecordError(_not_json(body, request.headers.get("Content-Type", ""), error)) from error
    except RecursionError as error:
        raise MalformedRecordError("the body is nested too deeply") from error


def _not_json(body: bytes, content_type: str, error: orjson.JSONDecodeError) -> str:
    """The problem of a body, and what to send instead."""
    if not body.strip():
        return "the body is empty: send a JSON object"
    if content_type.startswith(_FORMS):
        return f"the body is a form ({content_type.partition(';')[0]}): send JSON, with the header Content-Type: application/json"
    quotes = "; JSON has double quotes around names and texts" if error.doc[error.pos : error.pos + 1] == "'" else ""
    return f"the body is not JSON in UTF-8: {error}{quotes}"


def _members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise MalformedRecordError(f"{twice[:_LONGEST_NAME]}: an object of the body has this name twice; send it once")
    return members
