"""A chat endpoint that follows no format: a real HTTP server on this machine that sends the bytes of a test."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.http_server import serving_posts


def chunk(content: Any = None, *, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A chunk as it should be."""
    choice = {"index": 0, "delta": {} if content is None else {"content": content}, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


def event(data: Any) -> bytes:
    """One event of a stream; bytes are sent as they are."""
    return b"data: " + (data if isinstance(data, bytes) else json.dumps(data).encode()) + b"\n\n"


def stream_of(*chunks: Any) -> bytes:
    """A stream's body."""
    return b"".join(map(event, chunks)) + b"data: [DONE]\n\n"


Reply = Callable[[dict[str, Any]], web.Response]
"""The reply to a request's body."""


def refusal(status: int, body: Any, **headers: str) -> web.Response:
    """A refusal with a body in JSON, or a text."""
    is_text = isinstance(body, str)
    content_type = "text/plain" if is_text else "application/json"
    return web.Response(status=status, text=body if is_text else json.dumps(body), content_type=content_type, headers=headers)


def streamed(body: bytes) -> web.Response:
    """A reply that streams."""
    return web.Response(body=body, headers={"Content-Type": "text/event-stream"})


@asynccontextmanager
async def replying_endpoint(reply: Reply) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """The address of a running endpoint with a test's reply, and the bodies of the requests that reached it."""
    requests: list[dict[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        requests.append(await request.json())
        return reply(requests[-1])

    async with serving_posts("/v1/chat/completions", answer) as address:
        yield f"{address}/v1", requests


@asynccontextmanager
async def raw_endpoint(body: bytes, *, content_type: str = "text/event-stream") -> AsyncIterator[str]:
    """The address of a running endpoint that answers every call with this body."""
    async with replying_endpoint(lambda _: web.Response(body=body, headers={"Content-Type": content_type})) as (url, _):
        yield url
