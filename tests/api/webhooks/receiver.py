"""A receiver of webhooks: a real HTTP server, and an independent check of the signatures by the text of Standard Webhooks."""

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


def is_signed(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Whether one of the signatures in the headers is valid for a secret, as Standard Webhooks describes it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = b".".join((headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body))
    expected = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    versions = (each.split(",", 1) for each in headers["webhook-signature"].split(" "))
    return any(version == "v1" and hmac.compare_digest(signature, expected) for version, signature in versions)


@dataclass(frozen=True, slots=True)
class Received:
    """A request."""

    headers: Mapping[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def content(self) -> str:
        return str(self.json["data"].get("memory", {}).get("content", ""))


@dataclass(slots=True)
class Receiver:
    """Keeps the requests."""

    url: str = ""
    requests: list[Received] = field(default_factory=list)

    @property
    def contents(self) -> list[str]:
        return [each.content for each in self.requests]


@asynccontextmanager
async def receiving(answer: Callable[[Received], Awaitable[web.Response]] | None = None) -> AsyncIterator[Receiver]:
    """A running receiver. It answers 204 unless a function answers."""
    receiver = Receiver()

    async def handle(request: web.Request) -> web.Response:
        received = Received(request.headers, await request.read())
        receiver.requests.append(received)
        return web.Response(status=204) if answer is None else await answer(received)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    try:
        yield receiver
    finally:
        await runner.cleanup()
