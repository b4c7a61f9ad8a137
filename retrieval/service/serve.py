"""Runs the query service as a process."""

import asyncio
import contextlib
import signal
from typing import Final

import uvicorn
import uvloop

from retrieval.service.app import create_app
from retrieval.service.parts import Parts, open_parts
from runtime.logs import configure_logging
from runtime.settings import Settings

_ENDS: Final = (signal.SIGTERM, signal.SIGINT)


def serve(settings: Settings) -> None:
    """Serves until SIGTERM or SIGINT, then finishes the requests it has begun and returns. Call it in the main thread.

    Raises:
        TenantsFileError: If nobody could be let in.
        ModelConfigurationError: If the embedding model cannot be had.
        SystemExit: If the port is in use; the log says so.
    """
    configure_logging(settings.log, stage="service")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, contextlib.suppress(asyncio.CancelledError):
        runner.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    loop = asyncio.get_running_loop()
    opening = asyncio.current_task()
    assert opening is not None
    for each in _ENDS:
        loop.add_signal_handler(each, opening.cancel)
    async with open_parts(settings) as parts:
        for each in _ENDS:
            loop.remove_signal_handler(each)
            # uvicorn takes the signals over and, once it has shut down, raises them again to whoever had them before.
            signal.signal(each, lambda *_: None)
        await uvicorn.Server(_config(settings, parts)).serve()


def _config(settings: Settings, parts: Parts) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(settings, open_parts=lambda _: contextlib.nullcontext(parts)),
        host=settings.service.host,
        port=settings.service.port,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(settings.delivery.drain_timeout_s),
    )
