"""The positions of the feed that the vector store includes."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from memory.positions import LogPosition
from runtime.background import run_in_background
from stores.errors import StoreUnavailableError
from stores.port import MemoryStore
from stores.position import FeedPosition

MAX_AGE_S: Final = 1.0
"""Older positions are refreshed in the background: the store only moves forward, unless it is being rebuilt."""
LONGEST_KNOWN_S: Final = 5.0
"""For older positions, the request waits for a refresh: a repeated recall at them would miss memories that were found since."""


class StorePositions:
    """The newest positions of the feed that the store is known to include, one per partition.

    Args:
        seconds: A monotonic clock.
    """

    def __init__(self, *, store: MemoryStore, topic: str, partitions: int, seconds: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._topic = topic
        self._partitions = range(partitions)
        self._seconds = seconds
        self._known: tuple[LogPosition, ...] | None = None
        self._read_at = 0.0
        self._reading: asyncio.Task[None] | None = None

    async def read(self, at: Sequence[FeedPosition] = ()) -> tuple[LogPosition, ...]:
        """The positions: a search that begins now finds all up to them. Waits for the first response of the store; None if there is none.

        Args:
            at: The positions that a repeated search is limited to; empty: no limit.
        """
        age_s = self._seconds() - self._read_at
        if self._known is None or age_s > MAX_AGE_S:
            if self._reading is None:
                self._reading = run_in_background("store-positions", self._read())
            if self._known is None or age_s > LONGEST_KNOWN_S:
                await asyncio.wait((self._reading,))
        known = self._known or ()
        most = {each.partition: each.offset for each in at}
        return known if not at else tuple(_bounded(each, most[each.partition]) for each in known if each.partition in most)

    async def newest(self) -> tuple[LogPosition, ...]:
        """The store's current positions.

        Raises:
            StoreUnavailableError: If it does not respond.
        """
        read_at = self._seconds()
        checkpoints = await asyncio.gather(*(self._store.checkpoint_of(each) for each in self._partitions))
        self._known = tuple(LogPosition(self._topic, each.partition, each.offset) for each in checkpoints if each is not None)
        self._read_at = read_at
        return self._known

    async def close(self) -> None:
        """Waits for running refreshes."""
        if self._reading is not None:
            await asyncio.wait((self._reading,))

    async def _read(self) -> None:
        try:
            # An unavailable store is reported where memories are read.
            with suppress(StoreUnavailableError):
                await self.newest()
        finally:
            self._reading = None


def _bounded(position: LogPosition, most: int) -> LogPosition:
    return LogPosition(position.topic, position.partition, min(position.offset, most))
