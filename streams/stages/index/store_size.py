"""Metric of the vector store's size."""

import asyncio
from contextlib import suppress
from typing import Final

from runtime.metrics import Metrics
from stores.errors import StoreError
from stores.port import MemoryStore

_INTERVAL_S: Final = 30.0


class StoreSizeWatch:
    """Reads a store's size. Every worker of the stage shows the same value.

    Args:
        store: The store.
        kind: The engine's name, for the label.
        metrics: Receives the size.
    """

    def __init__(self, *, store: MemoryStore, kind: str, metrics: Metrics) -> None:
        self._store = store
        self._kind = kind
        self._metrics = metrics

    async def measure(self) -> None:
        """Reads the size once.

        Raises:
            StoreError: The store does not respond.
        """
        size = await self._store.size()
        self._metrics.store_points.labels(self._kind).set(size.points)
        if size.on_disk_bytes is not None:
            self._metrics.store_bytes.labels(self._kind).set(size.on_disk_bytes)

    async def run(self) -> None:
        """Reads the size repeatedly until it is cancelled."""
        while True:
            # While the store is unavailable, the last size stays; other metrics show the outage.
            with suppress(StoreError):
                await self.measure()
            await asyncio.sleep(_INTERVAL_S)
