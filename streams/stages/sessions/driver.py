"""Driver of the sessions stage: writes session tails only while the partitions are assigned."""

from typing import Any

from streams.engine.context import StageContext
from streams.engine.tasks.ordered_driver import OrderedDriver
from streams.stages.sessions.outcome_writer import OutcomeWriter
from streams.stages.sessions.tail_writer import TailWriter


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

    async def assign(self, partitions: set[int], generation: int) -> None:
        """Starts a task for each partition; tails may be written during this generation."""
        await super().assign(partitions, generation)
        self._tail_writer.assign(lambda: self._may_write(generation))

    async def revoke(self) -> None:
        """Stops all tasks, then the writing of tails, since a running task may add tails."""
        await super().revoke()
        await self._tail_writer.revoke()
