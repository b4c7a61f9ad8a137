"""What the entities stage runs on."""

from contextlib import AsyncExitStack

from runtime.metrics import Metrics
from runtime.settings import Settings
from runtime.tenants import TenantDirectory
from streams.delivery.build import DriverFactory, ordered_driver_factory
from streams.entities.handler import EntitiesHandler, EntityCodec


async def build(settings: Settings, metrics: Metrics, resources: AsyncExitStack, *, tenants: TenantDirectory) -> DriverFactory:
    """Builds what the stage runs on: entity state, by entity.

    Args:
        settings: The settings in force.
        metrics: Where the stage counts.
        resources: Closes what was opened.
        tenants: Who is known.
    """
    return ordered_driver_factory(settings, EntityCodec(), lambda _: EntitiesHandler(settings=settings, tenants=tenants, metrics=metrics))
