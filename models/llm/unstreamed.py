"""An answer that comes whole, from an endpoint that does not stream though it was asked to."""

from typing import Any

import orjson
from openai import AsyncStream
from openai.types.chat import ChatCompletionChunk


class WholeAnswer:
    """Reads as a stream of one chunk."""

    def __init__(self, chunk: dict[str, Any]) -> None:
        """Not read yet."""
        self._chunks = [chunk]

    async def __anext__(self) -> dict[str, Any]:
        if not self._chunks:
            raise StopAsyncIteration
        return self._chunks.pop()

    async def close(self) -> None:
        """Nothing is open."""


Answer = AsyncStream[ChatCompletionChunk] | WholeAnswer


async def as_it_came(stream: AsyncStream[ChatCompletionChunk]) -> Answer:
    """The stream, or the whole answer where the endpoint's reply is one JSON object."""
    if "application/json" not in stream.response.headers.get("content-type", "").lower():
        return stream
    body = await stream.response.aread()
    try:
        whole = orjson.loads(body)
    except orjson.JSONDecodeError:
        return stream
    if not isinstance(whole, dict):
        return stream
    choices = whole.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    return WholeAnswer({**whole, "choices": [{**first, "delta": first.get("message")}] if first else []})
