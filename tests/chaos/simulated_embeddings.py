"""A second embedding model for the chaos runs, with OpenAI's API: ``python -m tests.chaos.simulated_embeddings PORT``.

A text's vector is drawn from the text. So equal texts have equal vectors, different texts have nearly orthogonal ones, and no event is
taken for a repetition of another one.
"""

import asyncio
import signal
import sys
from random import Random
from typing import Final

from aiohttp import web

from varve.embedded.ports import HOST

DIMENSION: Final = 64
MODEL: Final = "simulated-64"


async def _embeddings(request: web.Request) -> web.Response:
    body = await request.json()
    data = [{"object": "embedding", "index": index, "embedding": _vector(text)} for index, text in enumerate(body["input"])]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return web.json_response({"object": "list", "model": body["model"], "data": data, "usage": usage})


def _vector(text: str) -> list[float]:
    rng = Random(text)
    return [rng.gauss(0.0, 1.0) for _ in range(DIMENSION)]


async def _serve(port: int) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    app = web.Application()
    app.router.add_post("/v1/embeddings", _embeddings)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, HOST, port).start()
    await stopped.wait()
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
