"""Feeds the session tails in Redis: best effort, behind the delivery rules, never in their way."""

import asyncio
import contextlib
from collections import defaultdict
from typing import Final

from runtime.errors import RuntimeFault
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.session_tail import SessionTail

_log = logger(__name__)
_MAX_WAITING: Final = 20_000
_AT_ONCE: Final = 32


class TailFeed:
    """Collects what happened to sessions and writes it to Redis, many at a time.

    While Redis is away, or slower than the stream, the tails miss messages: they are a view, and nothing is lost but the view.
    """

    def __init__(self, *, tail: SessionTail, metrics: Metrics) -> None:
        self._tail = tail
        self._metrics = metrics
        self._messages: dict[tuple[str, str, int], list[tuple[int, bytes]]] = defaultdict(list)
        self._closed: dict[tuple[str, str], int] = {}
        self._waiting = 0
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to write."""
        self._task = asyncio.create_task(self._run(), name="session-tail")

    async def stop(self) -> None:
        """Stops; what waits is dropped."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def message(self, tenant: str, session: str, sequence: int, offset: int, raw: bytes) -> None:
        """A message came into a window."""
        if self._waiting >= _MAX_WAITING:
            self._metrics.records.labels("sessions", "tail_skipped").inc()
            return
        self._waiting += 1
        self._messages[tenant, session, sequence].append((offset, raw))
        self._wake.set()

    def closed(self, tenant: str, session: str, sequence: int) -> None:
        """A window closed."""
        self._closed[tenant, session] = sequence
        self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            messages, self._messages = self._messages, defaultdict(list)
            closed, self._closed = self._closed, {}
            self._waiting = 0
            work = [self._tail.append(*key, records) for key, records in messages.items()]
            work += [self._tail.close_window(*key, sequence) for key, sequence in closed.items()]
            try:
                for start in range(0, len(work), _AT_ONCE):
                    await asyncio.gather(*work[start : start + _AT_ONCE])
            except RuntimeFault as error:
                self._metrics.records.labels("sessions", "tail_skipped").inc(len(messages))
                _log.warning("session tails miss messages", why=str(error))
            finally:
                for each in work:
                    each.close()
