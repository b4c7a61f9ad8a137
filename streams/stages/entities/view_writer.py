"""Writes changed entities to the view: best effort, outside the delivery guarantees, never blocking them."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

from runtime.errors import RedisUnavailableError
from runtime.metrics import Metrics
from runtime.redis.entity_view import EntityUpdate

MAX_PENDING: Final = 5000
"""Limit of entities that wait to be written while Redis is unavailable, slow or merely late."""
BATCH_SIZE: Final = 250
_RETRY_S: Final = 1.0


class ViewWriter:
    """Collects changed entities, and writes the newest state of each.

    Waiting entities are limited: beyond the limit, the one that has waited longest is skipped until it changes again; the index has it.

    Args:
        write: Writes the states: :meth:`runtime.redis.entity_view.EntityView.write`.
        metrics: Counts skipped entities.
    """

    def __init__(self, *, write: Callable[[list[EntityUpdate]], Awaitable[None]], metrics: Metrics) -> None:
        self._write = write
        self._metrics = metrics
        self._pending: OrderedDict[tuple[str, str], EntityUpdate] = OrderedDict()
        self._wake = asyncio.Event()

    def changed(self, update: EntityUpdate) -> None:
        """Schedules the write of a changed entity."""
        name = update.tenant, update.memory_id
        self._pending.pop(name, None)
        self._pending[name] = update
        if len(self._pending) > MAX_PENDING:
            self._pending.popitem(last=False)
            self._metrics.records.labels("entities", "view_skipped").inc()
        self._wake.set()

    async def run(self) -> None:
        """Writes until it is cancelled. After a failure, it continues with the waiting entities."""
        self._wake.set()
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._pending:
                batch = [self._pending.popitem(last=False) for _ in range(min(BATCH_SIZE, len(self._pending)))]
                try:
                    await self._write([update for _, update in batch])
                except RedisUnavailableError:
                    for name, update in reversed(batch):
                        if name not in self._pending:
                            self._pending[name] = update
                            self._pending.move_to_end(name, last=False)
                    await asyncio.sleep(_RETRY_S)
                except Exception:
                    # The write that failed is unknown: each entity is written again when it changes.
                    self._metrics.records.labels("entities", "view_skipped").inc(len(batch))
                    raise
