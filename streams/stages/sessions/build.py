"""Dependencies of the sessions stage."""

from contextlib import AsyncExitStack
from functools import partial

from control.tenants import TenantDirectory
from runtime.logs import logger
from runtime.message_outcomes import MessageOutcomes
from runtime.metrics import Metrics
from runtime.redis import open_redis
from runtime.session_tail import SessionTail
from runtime.settings import Settings
from streams.engine.build import DriverFactory, ordered_driver_factory
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.driver import SessionsDriver
from streams.stages.sessions.handler import SessionsHandler
from streams.stages.sessions.outcome_writer import OutcomeWriter
from streams.stages.sessions.tail_writer import TailWriter

_log = logger(__name__)


async def build(settings: Settings, metrics: Metrics, resources: AsyncExitStack, *, tenants: TenantDirectory) -> DriverFactory:
    """Builds the windows of sessions, with their tails in Redis.

    Args:
        settings: The settings in force.
        metrics: Receives the stage's counts.
        resources: Closes what was opened.
        tenants: The known tenants.
    """
    redis = await resources.enter_async_context(open_redis(settings.redis))
    writer = TailWriter(tail=SessionTail(redis=redis, ttl_s=settings.redis.tail_ttl_s), metrics=metrics)
    outcomes = OutcomeWriter(sink=MessageOutcomes(redis=redis))
    if settings.signing.secret is None:
        _log.warning("messages_are_not_checked", problem="messages of any producer are accepted", remedy="set VARVE_SIGNING__SECRET")
    return ordered_driver_factory(
        settings,
        SessionCodec(),
        lambda partition: SessionsHandler(
            partition=partition, settings=settings, tenants=tenants, tail=writer, metrics=metrics, outcomes=outcomes
        ),
        driver_class=partial(SessionsDriver, tail_writer=writer, outcome_writer=outcomes),
    )
