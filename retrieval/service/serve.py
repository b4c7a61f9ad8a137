"""Runs the query service as a process."""

import asyncio
import contextlib
import gc
import signal
import sys
from typing import Final

import uvicorn
import uvloop

from retrieval.service.app import create_app
from retrieval.service.dependencies import Dependencies, open_dependencies
from retrieval.service.erasures import Eraser
from retrieval.service.readiness import health_page
from retrieval.service.timeouts import bounded_protocol
from runtime.logs import configure_logging
from runtime.settings import Settings
from runtime.trace_export import exporting_spans

SWITCH_INTERVAL_S: Final = 0.0005
"""A thread that embeds a query gets the interpreter lock back so soon, three times a query. By default it waits for up to five milliseconds
each time, while the event loop works on another's large answer."""
_MIDDLE_COLLECTIONS: Final = 1000
"""Between two looks through all objects for garbage, each of which holds up every request for ten milliseconds and more. By default they
are ten, and a thousand results make as many: what is kept, as records are, is seldom garbage."""
_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


def serve(settings: Settings, *, eraser: Eraser | None = None) -> None:
    """Serves until SIGTERM or SIGINT, then completes the running requests and returns. Call it in the main thread.

    Args:
        settings: Addresses and limits.
        eraser: Carries out erasures; None: the service carries out none.

    Raises:
        ModelConfigurationError: If the embedding model cannot be loaded.
        ProfilesError: If the settings' file of ranking profiles cannot be taken.
        OSError: If the health page's port is in use.
        SystemExit: If the port is in use; the log says so.
    """
    configure_logging(settings.log, stage="service")
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    with (
        exporting_spans(settings.tracing, process="service"),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        contextlib.suppress(asyncio.CancelledError),
    ):
        runner.run(_serve(settings, eraser))


async def _serve(settings: Settings, eraser: Eraser | None) -> None:
    loop = asyncio.get_running_loop()
    main_task = asyncio.current_task()
    assert main_task is not None
    for stop_signal in _STOP_SIGNALS:
        loop.add_signal_handler(stop_signal, main_task.cancel)
    async with open_dependencies(settings, eraser=eraser) as dependencies, health_page(dependencies):
        for stop_signal in _STOP_SIGNALS:
            loop.remove_signal_handler(stop_signal)
            # uvicorn handles the signals and, once it has shut down, raises them again for the handlers from before.
            signal.signal(stop_signal, lambda *_: None)
        # What was loaded stays: looking through it again for garbage would hold up requests for tens of milliseconds.
        gc.collect()
        gc.freeze()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, _MIDDLE_COLLECTIONS)
        await uvicorn.Server(_config(settings, dependencies)).serve()


def _config(settings: Settings, dependencies: Dependencies) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(settings, open_dependencies=lambda _: contextlib.nullcontext(dependencies)),
        host=settings.service.host,
        port=settings.service.port,
        http=bounded_protocol(settings.service, dependencies.metrics),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=settings.service.idle_timeout_s,
        timeout_graceful_shutdown=int(settings.delivery.drain_timeout_s),
    )
