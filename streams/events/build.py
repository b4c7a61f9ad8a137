"""What the events stage runs on."""

from contextlib import AsyncExitStack

from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.delivery.build import DriverFactory, ordered_driver_factory
from streams.events.handler import EventsHandler
from streams.events.ledger import LedgerCodec
from streams.tenancy import open_tenants


async def build(settings: Settings, metrics: Metrics, resources: AsyncExitStack) -> DriverFactory:
    """Builds what the stage runs on: the ledger, by window.

    Args:
        settings: The settings in force.
        metrics: Where the stage counts.
        resources: Closes what was opened.
    """
    tenants = open_tenants(settings, metrics)
    return ordered_driver_factory(
        settings,
        LedgerCodec(),
        lambda partition: EventsHandler(partition=partition, settings=settings, tenants=tenants, metrics=metrics),
    )
