"""Writes in the background what nobody waits for, in as few calls as it takes."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from runtime.logs import logger

T = TypeVar("T")

_log = logger(__name__)


class BackgroundBatches(Generic[T]):
    """Writes items in the background: all that came while the last ones were written, in one call. Belongs to one event loop.

    Args:
        write: Writes some; its time-out bounds it.
        max_pending: Most items that wait or are written, at least 1.

    Raises:
        ValueError: If ``max_pending`` is below 1.
    """

    def __init__(self, write: Callable[[Sequence[T]], Awaitable[None]], *, max_pending: int) -> None:
        if max_pending < 1:
            raise ValueError(f"max_pending must be at least 1, got {max_pending}")
        self._write = write
        self._max_pending = max_pending
        self._waiting: list[T] = []
        self._under_way = 0
        self._task: asyncio.Task[None] | None = None

    def add(self, item: T) -> bool:
        """Takes an item; false if there is no room."""
        if len(self._waiting) + self._under_way >= self._max_pending:
            return False
        self._waiting.append(item)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        return True

    async def close(self) -> None:
        """Waits until all are written."""
        while self._task is not None and not self._task.done():
            await asyncio.wait((self._task,))

    async def _work(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            self._under_way = len(batch)
            try:
                await self._write(batch)
            except Exception as error:
                # What is wrong with one batch must not keep those behind it.
                _log.error("batch_not_written", exc_info=error)
            finally:
                self._under_way = 0
