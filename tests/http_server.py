"""A real HTTP server on this machine that answers one path."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def serving_posts(
    path: str, handle: Callable[[web.Request], Awaitable[web.StreamResponse]], *, method: str = "POST", port: int = 0
) -> AsyncIterator[str]:
    """The address, without a path, of a running server that gives what is posted to one path, or sent by another method, to a handler.

    Port 0: a free one.
    """
    app = web.Application()
    app.router.add_route(method, path, handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()
