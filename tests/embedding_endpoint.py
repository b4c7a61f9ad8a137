"""An OpenAI-compatible embeddings endpoint: a real HTTP server on this machine that a test controls."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.http_server import serving_posts


class EmbeddingEndpoint:
    """Embeds a text as ``(its length, 1, 0, ...)``, answers in reverse order, and fails when a test says so."""

    def __init__(self, dimension: int) -> None:
        self.url = ""
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.status = 200
        self.leave_out = 0
        self.refused: str | None = None
        """A batch with this text in it is answered with 400."""
        self.broken: str | None = None
        """A batch with this text in it is answered with 500."""
        self.body: bytes | None = None
        """Sent with 200 instead of an answer."""
        self._zeros = [0.0] * (dimension - 2)

    async def embeddings(self, request: web.Request) -> web.Response:
        """Answers a request."""
        body = json.loads(await request.read())
        self.requests.append(body)
        self.keys.append(request.headers.get("Authorization"))
        status = 400 if self.refused in body["input"] else 500 if self.broken in body["input"] else self.status
        if status != 200:
            return web.json_response({"error": {"message": "told to"}}, status=status, headers={"Retry-After": "3"})
        if self.body is not None:
            return web.Response(body=self.body, content_type="application/json")
        data = [
            {"object": "embedding", "index": index, "embedding": [float(len(text)), 1.0, *self._zeros]}
            for index, text in enumerate(body["input"])
        ]
        data = data[self.leave_out :]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return web.json_response({"object": "list", "model": body["model"], "data": data[::-1], "usage": usage})


@asynccontextmanager
async def embedding_endpoint(*, dimension: int = 2) -> AsyncIterator[EmbeddingEndpoint]:
    """A running endpoint."""
    endpoint = EmbeddingEndpoint(dimension)
    async with serving_posts("/v1/embeddings", endpoint.embeddings) as address:
        endpoint.url = f"{address}/v1"
        yield endpoint
