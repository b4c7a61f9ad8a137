"""Dependencies and driver of the sessions stage."""

from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from control.tenants import TenantDirectory
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.redis.client import open_redis
from runtime.redis.message_outcomes import MessageOutcomes
from runtime.redis.session_tail import SessionTail
from runtime.settings import Settings
from streams.engine.build import DriverFactory, ordered_driver_factory
from streams.engine.context import StageContext
from streams.engine.tasks.ordered_driver import OrderedDriver
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler
from streams.stages.sessions.tail_writer import OutcomeWriter, TailWriter

_log = logger(__name__)


class SessionsDriver(OrderedDriver):
    """Handles every partition in the order of its log, and enables the tail writer while partitions are assigned.

    Args:
        outcome_writer: Writes the outcomes of changed messages.
        others: See :class:`streams.engine.tasks.ordered_driver.OrderedDriver`.
    """

    def __init__(self, *, tail_writer: TailWriter, outcome_writer: OutcomeWriter, context: StageContext, **others: Any) -> None:
        super().__init__(context=context, **others)
        self._tail_writer = tail_writer
        self._may_write = context.task.may_write
        context.background.add("session-tail", tail_writer.run)
        context.background.add("message-outcomes", outcome_writer.run)

    async def revoke(self) -> None:
        """Stops all tasks, then the writing of tails, since a running task may add tails."""
        await super().revoke()
        await self._tail_writer.revoke()

    def _on_assigned(self, partitions: set[int], generation: int) -> None:
        """Allows the writing of tails during this generation."""
        self._tail_writer.assign(lambda: self._may_write(generation))


async def build(settings: Settings, metrics: Metrics, resources: AsyncExitStack, *, tenants: TenantDirectory) -> DriverFactory:
    """Builds the windows of sessions, with their tails in Redis."""
    redis = await resources.enter_async_context(open_redis(settings.redis))
    writer = TailWriter(write=SessionTail(redis=redis, ttl_s=settings.redis.tail_ttl_s).write, metrics=metrics)
    outcomes = OutcomeWriter(MessageOutcomes(redis=redis).write)
    if settings.signing.secret is None:
        _log.warning("signatures_not_checked", problem="messages of any producer are accepted", remedy="set VARVE_SIGNING__SECRET")
    return ordered_driver_factory(
        settings,
        SessionCodec(),
        lambda partition: SessionsHandler(
            partition=partition, settings=settings, tenants=tenants, tail=writer, metrics=metrics, outcomes=outcomes
        ),
        driver_class=partial(SessionsDriver, tail_writer=writer, outcome_writer=outcomes),
    )
