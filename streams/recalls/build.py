"""What the recalls stage runs on."""

from contextlib import AsyncExitStack

from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.delivery.build import DriverFactory, ordered_driver_factory
from streams.recalls.handler import RecallsHandler
from streams.recalls.touched_days import TouchedCodec


async def build(settings: Settings, metrics: Metrics, resources: AsyncExitStack) -> DriverFactory:
    """Builds what the stage runs on: which events were touched today, by user.

    Args:
        settings: The settings in force.
        metrics: Where the stage counts.
        resources: Closes what was opened.
    """
    return ordered_driver_factory(settings, TouchedCodec(), lambda _: RecallsHandler(settings=settings))
