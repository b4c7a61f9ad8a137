"""How far into the change feed the store has come, as far as this process knows: what a recall rests on."""

import asyncio
from contextlib import suppress
from typing import Final

from memory.positions import LogPosition
from retrieval.errors import StoreUnavailableError
from retrieval.stores.guarded import GuardedStore

MAX_AGE_S: Final = 1.0
"""What is known may be so old: the store holds more by now, never less, unless it is being rebuilt."""


class StorePositions:
    """The newest positions of the feed that the store is known to hold, one a partition.

    Args:
        store: The store.
        topic: The feed's name on the broker.
        partitions: How many it has.
    """

    def __init__(self, *, store: GuardedStore, topic: str, partitions: int) -> None:
        self._store = store
        self._topic = topic
        self._partitions = range(partitions)
        self._known: tuple[LogPosition, ...] | None = None
        self._read_at = 0.0
        self._reading: asyncio.Task[None] | None = None

    async def read(self) -> tuple[LogPosition, ...]:
        """The positions: a search that begins now finds all up to them. None while the store has never answered, which is waited for."""
        if self._known is None:
            await self._read()
        elif self._reading is None and asyncio.get_running_loop().time() - self._read_at > MAX_AGE_S:
            self._reading = asyncio.create_task(self._read_in_background())
        return self._known or ()

    async def close(self) -> None:
        """Waits for what is under way."""
        if self._reading is not None:
            await asyncio.wait((self._reading,))

    async def _read_in_background(self) -> None:
        try:
            await self._read()
        finally:
            self._reading = None

    async def _read(self) -> None:
        read_at = asyncio.get_running_loop().time()
        # A store that is away says so where it is asked for memories.
        with suppress(StoreUnavailableError):
            marks = await asyncio.gather(*(self._store.mark_of(each) for each in self._partitions))
            self._known = tuple(LogPosition(self._topic, each.partition, each.offset) for each in marks if each is not None)
            self._read_at = read_at
