"""Runs the query service as a process."""

import contextlib
import gc
import sys
from collections.abc import Iterator
from typing import Final

import uvicorn
import uvloop

from api.app import create_app
from api.composition import open_dependencies
from api.dependencies import Dependencies
from api.readiness import health_page
from api.timeouts import bounded_protocol
from runtime.interruption import run_until_signal, stop_by
from runtime.logs import configure_logging
from runtime.settings import Settings
from runtime.tracing import exporting_spans
from stores.eraser import Eraser

SWITCH_INTERVAL_S: Final = 0.0005
"""Interval at which the interpreter lock is handed over. A thread that embeds a query needs it three times; with the default
it would wait up to five milliseconds each time while the event loop works on another large response."""
_MIDDLE_COLLECTIONS: Final = 1000
"""Young collections between two full garbage collections, each of which blocks every request for ten milliseconds or more. By default there
are ten, which a thousand results cause; records that are kept are seldom garbage."""
_CLOSE_S: Final = 8.0
"""Time limit for closing all clients after the last request."""


def serve(settings: Settings, *, eraser: Eraser | None = None) -> None:
    """Serves until SIGTERM or SIGINT, then completes the running requests and returns. Call it in the main thread.

    Args:
        settings: Addresses and limits.
        eraser: Runs erasures. None: this service runs no erasures.

    Raises:
        ModelConfigurationError: If the embedding model cannot be loaded.
        ProfilesError: If the settings' file of ranking profiles is invalid.
        BackgroundWorkError: If background work keeps failing.
        OSError: If the health page's port is in use.
        SystemExit: If the port is in use; the log says so.
    """
    configure_logging(settings.log, stage="service")
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    with exporting_spans(settings.tracing, process="service"):
        run_until_signal(_serve(settings, eraser), loop_factory=uvloop.new_event_loop)


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: the process handles signals itself."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures none."""
        yield

    def stop(self) -> None:
        """Completes the running requests and ends."""
        self.should_exit = True


async def _serve(settings: Settings, eraser: Eraser | None) -> None:
    async with open_dependencies(settings, eraser=eraser) as dependencies, health_page(dependencies):
        # Loaded objects stay in memory: collecting them again would block requests for tens of milliseconds.
        gc.collect()
        gc.freeze()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, _MIDDLE_COLLECTIONS)
        server = _Server(_config(settings, dependencies))
        stop_by(server.stop, grace_s=settings.delivery.drain_timeout_s + _CLOSE_S)
        dependencies.background.on_given_up = server.stop
        await server.serve()


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
