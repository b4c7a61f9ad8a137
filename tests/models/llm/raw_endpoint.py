"""A chat endpoint that keeps to no form: a real HTTP server on this machine that sends the bytes it is told to."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web


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


@asynccontextmanager
async def raw_endpoint(body: bytes, *, content_type: str = "text/event-stream") -> AsyncIterator[str]:
    """The address of a running endpoint that answers every call with this body."""

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=body, headers={"Content-Type": content_type})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}/v1"
    finally:
        await runner.cleanup()
