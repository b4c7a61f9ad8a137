"""What the entities stage runs on."""

from contextlib import AsyncExitStack

from runtime.metrics import Metrics
from runtime.settings import Settings
from runtime.tenants import TenantDirectory
from streams.delivery.build import NewDriver, lanes_of
from streams.entities.handler import EntitiesHandler, EntityCodec


async def build(settings: Settings, metrics: Metrics, resources: AsyncExitStack) -> NewDriver:
    """Entity state, by entity."""
    tenants = TenantDirectory(path=settings.tenants_path, recheck_s=0.5)
    return lanes_of(settings, EntityCodec(), lambda _: EntitiesHandler(settings=settings, tenants=tenants, metrics=metrics))
