"""JSON responses and request bodies, by orjson."""

import json
import re
from typing import Any, Final

import orjson
from starlette.requests import Request
from starlette.responses import Response

from memory.errors import MalformedRecordError

_LONG_INTEGER: Final = re.compile(rb"[0-9]{19}")


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

    Raises:
        MalformedRecordError: If it is not JSON in UTF-8.
    """
    body = await request.body()
    try:
        parsed = orjson.loads(body)
        # orjson rounds an integer beyond 64 bits to a float. Such a value must be rejected later, not changed here.
        return json.loads(body) if _LONG_INTEGER.search(body) else parsed
    except orjson.JSONDecodeError as error:
        raise MalformedRecordError(f"the body is not JSON in UTF-8: {error}") from error
    except RecursionError as error:
        raise MalformedRecordError("the body is nested too deeply") from error
