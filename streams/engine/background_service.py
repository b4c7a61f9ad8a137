"""Background work of a worker as services of its Faust app: they live, and end, as the app does."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import faust
from mode import Service

from runtime.background import Background


class BackgroundService(Service):
    """A piece of background work under a Faust app. Where it is given up, the app crashes, and with it the worker.

    Args:
        work: The work; it restarts itself.
        options: As mode takes them.
    """

    def __init__(self, work: Background, **options: Any) -> None:
        super().__init__(**options)
        self._work = work

    async def on_start(self) -> None:
        """Starts the work."""
        self.add_future(self._work.run())

    @property
    def label(self) -> str:
        """Its name in mode's logs."""
        return self._work.name


@asynccontextmanager
async def background_services(app: faust.App, works: Iterable[Background]) -> AsyncIterator[None]:
    """Runs services for the length of a block: from before the app starts until after it has stopped.

    The app's own dependencies would start and stop with it. But a worker's pulse has to beat while the app joins its group, and while the
    worker drains.
    """
    services = [BackgroundService(each, beacon=app.beacon, loop=app.loop) for each in works]
    try:
        for service in services:
            await service.start()
        yield
    finally:
        for service in reversed(services):
            await service.stop()
