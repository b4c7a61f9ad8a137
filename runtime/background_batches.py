"""Writes items in the background, in batches."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from runtime.background import run_in_background
from runtime.logs import logger

T = TypeVar("T")

_log = logger(__name__)


class BackgroundBatches(Generic[T]):
    """Writes items in the background: one call for all items since the last one. Belongs to one event loop.

    Args:
        write: Writes a batch; has to have its own time-out.
        max_pending: Limit for items that are queued or being written, at least 1.
        rest_s: Pause between two calls, in seconds; items that arrive meanwhile share the next call. The first item is written at once.

    Raises:
        ValueError: If ``max_pending`` is below 1, or ``rest_s`` below 0.
    """

    def __init__(self, write: Callable[[Sequence[T]], Awaitable[None]], *, max_pending: int, rest_s: float = 0.0) -> None:
        if max_pending < 1 or rest_s < 0:
            raise ValueError(f"max_pending must be at least 1 and rest_s at least 0, got {max_pending} and {rest_s}")
        self._write = write
        self._max_pending = max_pending
        self._rest_s = rest_s
        self._closing = asyncio.Event()
        self._waiting: list[T] = []
        self._under_way = 0
        self._task: asyncio.Task[None] | None = None

    def add(self, item: T) -> bool:
        """Queues an item; returns False if the queue is full."""
        if len(self._waiting) + self._under_way >= self._max_pending:
            return False
        self._waiting.append(item)
        if self._task is None or self._task.done():
            self._task = run_in_background("background-batches", self._work())
        return True

    async def close(self) -> None:
        """Waits until all items are written, without pauses."""
        self._closing.set()
        while self._task is not None and not self._task.done():
            await asyncio.wait((self._task,))
        self._closing.clear()

    async def _work(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            self._under_way = len(batch)
            try:
                await self._write(batch)
            except Exception as error:
                # One failing batch must not block the next ones.
                _log.error("batch_not_written", exc_info=error)
            finally:
                self._under_way = 0
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._rest_s):
                    await self._closing.wait()
