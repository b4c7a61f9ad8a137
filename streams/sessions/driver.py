"""The processors of the sessions stage: the session tails are written only while the partitions are ours."""

from typing import Any

from streams.delivery.context import StageContext
from streams.delivery.ordered_driver import OrderedDriver
from streams.sessions.tail import TailFeed


class SessionsDriver(OrderedDriver):
    """Handles every partition in the order of its log, and tells the feed of the tails whose the partitions are.

    Args:
        feed: What writes the tails.
        context: What the processors share.
        others: As :class:`streams.delivery.ordered_driver.OrderedDriver` takes them.
    """

    def __init__(self, *, feed: TailFeed, context: StageContext, **others: Any) -> None:
        super().__init__(context=context, **others)
        self._feed = feed
        self._may_write = context.may_write

    async def assign(self, partitions: set[int], generation: int) -> None:
        """Starts a processor for each partition; their tails may be written for as long as the generation lasts."""
        await super().assign(partitions, generation)
        self._feed.assign(lambda: self._may_write(generation))

    async def revoke(self) -> None:
        """Stops all processors, then the writing of tails: a processor that still runs may feed it."""
        await super().revoke()
        await self._feed.revoke()
