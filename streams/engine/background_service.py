"""Runs a worker's background work as services that start and stop with its Faust app."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import faust
from mode import Service

from runtime.background import Background


class BackgroundService(Service):
    """One piece of background work under a Faust app. If the work gives up, the app crashes, and the worker with it.

    Args:
        work: The work. It restarts itself.
        options: Passed to mode.
    """

    mundane_level = "debug"
    """Level of mode's lines about each start and stop, which say nothing to an operator."""

    def __init__(self, work: Background, **options: Any) -> None:
        super().__init__(**options)
        self._work = work

    async def on_start(self) -> None:
        """Starts the work."""
        self.add_future(self._work.run())

    @property
    def label(self) -> str:
        """Name in mode's logs."""
        return self._work.name


@asynccontextmanager
async def background_services(app: faust.App, works: Iterable[Background]) -> AsyncIterator[None]:
    """Runs services for the length of a block: from before the app starts until after it has stopped.

    The app's own dependencies would start and stop with the app. But a worker must send its heartbeat while the app joins its group and
    while the worker drains.
    """
    services = [BackgroundService(each, beacon=app.beacon, loop=app.loop) for each in works]
    try:
        for service in services:
            await service.start()
        yield
    finally:
        for service in reversed(services):
            await service.stop()
