"""Answers in JSON by orjson, and bodies read by it."""

from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from memory.errors import MalformedRecordError


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
    """A request's body, parsed.

    Raises:
        MalformedRecordError: If it is not JSON in UTF-8.
    """
    try:
        return orjson.loads(await request.body())
    except orjson.JSONDecodeError as error:
        raise MalformedRecordError(f"the body is not JSON in UTF-8: {error}") from error
