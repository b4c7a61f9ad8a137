"""Shows how much the vector store holds, now and then."""

import asyncio
from contextlib import suppress
from typing import Final

from runtime.metrics import Metrics
from stores.errors import StoreError
from stores.port import MemoryStore

_INTERVAL_S: Final = 30.0


class StoreSizeWatch:
    """Asks a store for its size. Every worker of the stage shows the same.

    Args:
        store: The store.
        kind: Which engine it is, for the label.
        metrics: Where it is shown.
    """

    def __init__(self, *, store: MemoryStore, kind: str, metrics: Metrics) -> None:
        self._store = store
        self._kind = kind
        self._metrics = metrics

    async def measure(self) -> None:
        """Asks once.

        Raises:
            StoreError: If the store does not answer.
        """
        size = await self._store.size()
        self._metrics.store_points.labels(self._kind).set(size.points)
        if size.on_disk_bytes is not None:
            self._metrics.store_bytes.labels(self._kind).set(size.on_disk_bytes)

    async def run(self) -> None:
        """Asks now and then until it is cancelled."""
        while True:
            # A store that is away shows what it held last: that it is away, others tell.
            with suppress(StoreError):
                await self.measure()
            await asyncio.sleep(_INTERVAL_S)
