"""Writes the session tails to Redis: best effort, apart from the delivery rules, and never blocking them."""

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from runtime.errors import RedisUnavailableError
from runtime.metrics import Metrics
from runtime.session_tail import SessionView, TailUpdate, TailWindow
from streams.sessions.windows import SessionState

_INTERVAL_S: Final = 0.1
_RETRY_S: Final = 1.0
_BATCH_SIZE: Final = 250
_MAX_PENDING_BYTES: Final = 32 * 1024 * 1024
"""How much is kept for the next try when Redis is away."""


@dataclass(slots=True)
class _PendingTail:
    """What of one session is not written yet; None: nothing."""

    state: SessionState | None = None
    closed: TailWindow | None = None

    @property
    def size(self) -> int:
        closed = sum(map(len, self.closed.messages)) if self.closed is not None else 0
        return closed + (self.state.size if self.state is not None else 0)

    def view(self) -> SessionView:
        opened = TailWindow(self.state.sequence, tuple(self.state.raw_messages)) if self.state is not None else None
        return SessionView(closed=self.closed, open=opened)


class TailSink(Protocol):
    """Where session tails are written."""

    async def write(self, updates: Iterable[TailUpdate]) -> None:
        """See :meth:`runtime.session_tail.SessionTail.write`."""
        ...


class TailWriter:
    """Collects which sessions have changed and writes their tails several times a second.

    A session that changes a hundred times between two writes costs one write. While Redis is away, changes wait within bounds. The tails
    are a view: nothing else depends on them.

    Args:
        tail: Where tails are written.
        metrics: Where skipped tails are counted.
    """

    def __init__(self, *, tail: TailSink, metrics: Metrics) -> None:
        self._tail = tail
        self._metrics = metrics
        self._pending: dict[tuple[str, str], _PendingTail] = {}
        self._may_write: Callable[[], bool] | None = None
        self._write_lock = asyncio.Lock()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts the task that writes once partitions are assigned."""
        self._task = asyncio.create_task(self._run(), name="session-tail")

    async def stop(self) -> None:
        """Stops the task; pending tails are dropped."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        self._pending.clear()

    def assign(self, may_write: Callable[[], bool]) -> None:
        """Allows writing.

        Args:
            may_write: Called right before every write. When it returns false, another worker may have written newer tails, and pending
                ones are dropped.
        """
        self._may_write = may_write
        self._wake.set()

    async def revoke(self) -> None:
        """Drops pending tails; on return nothing is written until the next :meth:`assign`."""
        self._may_write = None
        async with self._write_lock:
            self._pending.clear()

    def window_changed(self, state: SessionState) -> None:
        """A session's open window has changed."""
        self._pending.setdefault((state.tenant, state.session), _PendingTail()).state = state
        self._wake.set()

    def window_closed(self, tenant: str, session: str, window: TailWindow) -> None:
        """A window has closed.

        Args:
            tenant: Whose session.
            session: Its name.
            window: The window.
        """
        self._pending.setdefault((tenant, session), _PendingTail()).closed = window
        self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            pause_s = _INTERVAL_S
            if self._may_write is not None:
                async with self._write_lock:
                    is_written = await self._write(self._may_write)
                pause_s = _INTERVAL_S if is_written else _RETRY_S
                if self._pending:
                    self._wake.set()
            await asyncio.sleep(pause_s)

    async def _write(self, may_write: Callable[[], bool]) -> bool:
        if not may_write():
            self._pending.clear()
            return True
        batch = {name: self._pending.pop(name) for name in [*self._pending][:_BATCH_SIZE]}
        try:
            await self._tail.write([TailUpdate(*name, pending.view()) for name, pending in batch.items()])
        except RedisUnavailableError:
            self._requeue(batch)
            return False
        return True

    def _requeue(self, batch: dict[tuple[str, str], _PendingTail]) -> None:
        for name, old in batch.items():
            new = self._pending.setdefault(name, _PendingTail())
            new.state = new.state or old.state
            new.closed = new.closed or old.closed
        pending_bytes = 0
        for name in [*self._pending]:
            pending_bytes += self._pending[name].size
            if pending_bytes > _MAX_PENDING_BYTES:
                del self._pending[name]
                self._metrics.records.labels("sessions", "tail_skipped").inc()
