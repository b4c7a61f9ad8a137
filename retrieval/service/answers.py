"""Answers in JSON by orjson, and bodies read by it."""

import json
import re
from typing import Any, Final

import orjson
from starlette.requests import Request
from starlette.responses import Response

from memory.errors import MalformedRecordError

_LONG_INTEGER: Final = re.compile(rb"[0-9]{19}")


class JsonAnswer(Response):
    """A JSON answer; takes plain values, datetimes and dataclasses."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The body's bytes."""
        return to_json(content)


def to_json(content: Any) -> bytes:
    """JSON in UTF-8; datetimes in ISO 8601 with ``Z``."""
    return orjson.dumps(content, option=orjson.OPT_UTC_Z)


async def read_json(request: Request) -> Any:
    """A request's body, parsed; an integer of any size is read whole.

    Raises:
        MalformedRecordError: If it is not JSON in UTF-8.
    """
    body = await request.body()
    try:
        parsed = orjson.loads(body)
        # orjson rounds an integer beyond 64 bits to a float: what cannot be kept shall be refused, not changed.
        return json.loads(body) if _LONG_INTEGER.search(body) else parsed
    except orjson.JSONDecodeError as error:
        raise MalformedRecordError(f"the body is not JSON in UTF-8: {error}") from error
    except RecursionError as error:
        raise MalformedRecordError("the body is nested too deeply") from error
