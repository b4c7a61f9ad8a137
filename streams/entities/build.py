"""What the entities stage runs on."""

from contextlib import AsyncExitStack

from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.delivery.build import NewDriver, ordered_driver_of
from streams.entities.handler import EntitiesHandler, EntityCodec
from streams.tenancy import open_tenants


async def build(settings: Settings, metrics: Metrics, resources: AsyncExitStack) -> NewDriver:
    """Entity state, by entity."""
    tenants = open_tenants(settings)
    return ordered_driver_of(settings, EntityCodec(), lambda _: EntitiesHandler(settings=settings, tenants=tenants, metrics=metrics))
