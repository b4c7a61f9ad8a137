"""Dependencies of the entities stage."""

from contextlib import AsyncExitStack

from control.tenants import TenantDirectory
from runtime.clocks import SystemClock
from runtime.metrics import Metrics
from runtime.redis.client import open_redis
from runtime.redis.entity_view import EntityView
from runtime.settings import Settings
from streams.engine.build import DriverFactory, ordered_driver_factory
from streams.engine.context import StageContext
from streams.engine.tasks.driver import Driver
from streams.stages.entities.codec import EntityCodec
from streams.stages.entities.handler import EntitiesHandler
from streams.stages.entities.view_writer import ViewWriter


async def build(settings: Settings, metrics: Metrics, resources: AsyncExitStack, *, tenants: TenantDirectory) -> DriverFactory:
    """Builds the entity state, with a view of it in Redis.

    Args:
        settings: The settings in force.
        metrics: Receives the stage's counts.
        resources: Closes what was opened.
        tenants: The known tenants.
    """
    redis = await resources.enter_async_context(open_redis(settings.redis))
    view = ViewWriter(write=EntityView(redis=redis, ttl_s=settings.redis.entity_ttl_s).write, metrics=metrics)
    new_ordered_driver = ordered_driver_factory(
        settings,
        EntityCodec(),
        lambda partition: EntitiesHandler(
            partition=partition, settings=settings, tenants=tenants, metrics=metrics, clock=SystemClock(), view=view
        ),
    )

    def new_driver(context: StageContext) -> Driver:
        context.background.add("entity-view", view.run)
        return new_ordered_driver(context)

    return new_driver
