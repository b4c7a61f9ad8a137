"""Writes changed entities to the view: best effort, apart from the delivery rules, and never blocking them."""

import asyncio
from collections import OrderedDict
from typing import Final, Protocol

from runtime.entity_view import EntityUpdate
from runtime.errors import RedisUnavailableError
from runtime.metrics import Metrics

MAX_PENDING: Final = 5000
"""Entities that wait to be written, whether Redis is away, slow, or merely behind."""
BATCH_SIZE: Final = 250
_RETRY_S: Final = 1.0


class ViewSink(Protocol):
    """Where views are written."""

    async def write(self, updates: list[EntityUpdate]) -> None:
        """See :meth:`runtime.entity_view.EntityView.write`."""
        ...


class ViewWriter:
    """Collects which entities have changed, and writes them at once, the newest state of each.

    What waits is bounded: beyond, the entity that has waited longest is skipped until it changes again; the index has it.

    Args:
        view: Where views are written.
        metrics: Where skipped entities are counted.
    """

    def __init__(self, *, view: ViewSink, metrics: Metrics) -> None:
        self._view = view
        self._metrics = metrics
        self._pending: OrderedDict[tuple[str, str], EntityUpdate] = OrderedDict()
        self._wake = asyncio.Event()

    def changed(self, update: EntityUpdate) -> None:
        """An entity has changed."""
        name = update.tenant, update.memory_id
        self._pending.pop(name, None)
        self._pending[name] = update
        if len(self._pending) > MAX_PENDING:
            self._pending.popitem(last=False)
            self._metrics.records.labels("entities", "view_skipped").inc()
        self._wake.set()

    async def run(self) -> None:
        """Writes until it is cancelled. Called again after a failure, it goes on with what waits."""
        self._wake.set()
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._pending:
                batch = [self._pending.popitem(last=False) for _ in range(min(BATCH_SIZE, len(self._pending)))]
                try:
                    await self._view.write([update for _, update in batch])
                except RedisUnavailableError:
                    for name, update in reversed(batch):
                        if name not in self._pending:
                            self._pending[name] = update
                            self._pending.move_to_end(name, last=False)
                    await asyncio.sleep(_RETRY_S)
                except Exception:
                    # Which of them broke the writing is not known: each is written again when it changes.
                    self._metrics.records.labels("entities", "view_skipped").inc(len(batch))
                    raise
