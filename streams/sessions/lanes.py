"""The lanes of the sessions stage: the session tails are written only while the partitions are ours."""

from typing import Any

from streams.delivery.context import StageContext
from streams.delivery.lanes import Lanes
from streams.sessions.tail import TailFeed


class SessionLanes(Lanes):
    """Handles every partition in the order of its log, and tells the feed of the tails whose the partitions are.

    Args:
        feed: What writes the tails.
        context: What the lanes share.
        others: As :class:`streams.delivery.lanes.Lanes` takes them.
    """

    def __init__(self, *, feed: TailFeed, context: StageContext, **others: Any) -> None:
        super().__init__(context=context, **others)
        self._feed = feed
        self._may_write = context.may_write

    async def assign(self, partitions: set[int], generation: int) -> None:
        """Starts a lane for each partition; their tails may be written for as long as the generation lasts."""
        await super().assign(partitions, generation)
        self._feed.assign(lambda: self._may_write(generation))

    async def revoke(self) -> None:
        """Stops all lanes, then the writing of tails: a lane that still runs may feed it."""
        await super().revoke()
        await self._feed.revoke()
