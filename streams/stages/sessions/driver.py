"""The driver of the sessions stage: session tails are written only while the partitions are assigned."""

from typing import Any

from streams.engine.context import StageContext
from streams.engine.tasks.ordered_driver import OrderedDriver
from streams.stages.sessions.tail_writer import TailWriter


class SessionsDriver(OrderedDriver):
    """Handles every partition in the order of its log, and tells the tail writer when partitions are assigned and revoked.

    Args:
        tail_writer: Writes the session tails.
        context: What the processors share.
        others: As :class:`streams.engine.tasks.ordered_driver.OrderedDriver` takes them.
    """

    def __init__(self, *, tail_writer: TailWriter, context: StageContext, **others: Any) -> None:
        super().__init__(context=context, **others)
        self._tail_writer = tail_writer
        self._may_write = context.may_write
        context.background.add("session-tail", tail_writer.run)

    async def assign(self, partitions: set[int], generation: int) -> None:
        """Starts a processor for each partition; their tails may be written for as long as the generation lasts."""
        await super().assign(partitions, generation)
        self._tail_writer.assign(lambda: self._may_write(generation))

    async def revoke(self) -> None:
        """Stops all processors, then the writing of tails: a processor that still runs may add to it."""
        await super().revoke()
        await self._tail_writer.revoke()
