"""Runs the query service as a process."""

import uvicorn

from retrieval.service.app import create_app
from runtime.logs import configure_logging
from runtime.settings import Settings


def serve(settings: Settings) -> None:
    """Serves until SIGTERM or SIGINT, then finishes the requests it has begun.

    Raises:
        SystemExit: If it cannot start; the log says why.
    """
    configure_logging(settings.log, stage="service")
    uvicorn.run(
        create_app(settings),
        host=settings.service.host,
        port=settings.service.port,
        loop="uvloop",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(settings.delivery.drain_timeout_s),
    )
