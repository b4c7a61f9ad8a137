"""Dependencies of the events stage."""

from contextlib import AsyncExitStack

from control.tenants import TenantDirectory
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.build import DriverFactory, ordered_driver_factory
from streams.stages.events.handler import EventsHandler
from streams.stages.events.ledger import LedgerCodec


async def build(settings: Settings, metrics: Metrics, resources: AsyncExitStack, *, tenants: TenantDirectory) -> DriverFactory:
    """Builds the ledger, by window.

    Args:
        settings: The settings in force.
        metrics: Receives the stage's counts.
        resources: Closes what was opened.
        tenants: The known tenants.
    """
    return ordered_driver_factory(
        settings,
        LedgerCodec(),
        lambda partition: EventsHandler(partition=partition, settings=settings, tenants=tenants, metrics=metrics),
    )
