"""Dependencies of the recalls stage."""

from contextlib import AsyncExitStack

from control.tenants import TenantDirectory
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.build import DriverFactory, ordered_driver_factory
from streams.stages.recalls.handler import RecallsHandler, TouchedCodec


async def build(settings: Settings, metrics: Metrics, resources: AsyncExitStack, *, tenants: TenantDirectory) -> DriverFactory:
    """Builds the state of events touched today, by user.

    Args:
        settings: The settings in force.
        metrics: Receives the stage's counts.
        resources: Closes what was opened.
        tenants: Knows the erasures.
    """
    return ordered_driver_factory(settings, TouchedCodec(), lambda _: RecallsHandler(settings=settings, tenants=tenants))
