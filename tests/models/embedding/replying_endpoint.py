"""An embeddings endpoint with the replies of a test: a real HTTP server on this machine."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.http_server import serving_posts

Reply = Callable[[dict[str, Any]], web.Response | Awaitable[web.Response]]
"""The reply to a request's body, immediate or awaited."""


def vector(text: str) -> list[float]:
    """The embedding of a text, before it is normalised."""
    return [float(len(text)), 1.0]


def embedded(payload: dict[str, Any]) -> web.Response:
    """The answer to a request that nothing is wrong with."""
    return answered([{"index": index, "embedding": vector(text)} for index, text in enumerate(payload["input"])])


def answered(data: list[dict[str, Any]]) -> web.Response:
    """An answer with these items."""
    return web.json_response({"object": "list", "data": data})


def refused(status: int, message: str, **headers: str) -> web.Response:
    """A refusal in OpenAI's form."""
    return web.json_response({"error": {"message": message}}, status=status, headers=headers)


@asynccontextmanager
async def replying_endpoint(reply: Reply) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """The address of a running endpoint, and the bodies of the requests that reached it."""
    requests: list[dict[str, Any]] = []

    async def handle(request: web.Request) -> web.Response:
        requests.append(await request.json())
        answer = reply(requests[-1])
        return await answer if inspect.isawaitable(answer) else answer

    async with serving_posts("/v1/embeddings", handle) as address:
        yield f"{address}/v1", requests
