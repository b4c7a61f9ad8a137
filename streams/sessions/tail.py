"""Feeds the session tails in Redis: best effort, behind the delivery rules, never in their way."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from runtime.errors import InfrastructureError
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.session_tail import SessionTail, SessionView, TailUpdate, TailWindow
from streams.sessions.windows import SessionState

_log = logger(__name__)
_INTERVAL_S: Final = 0.1
_RETRY_S: Final = 1.0
_AT_ONCE: Final = 250
_MAX_KEPT_BYTES: Final = 32 * 1024 * 1024
"""How much of what could not be written is kept for the next try."""


@dataclass(slots=True)
class _Waiting:
    moved: SessionState | None = None
    closed: TailWindow | None = None

    @property
    def size(self) -> int:
        closed = sum(map(len, self.closed.messages)) if self.closed is not None else 0
        return closed + (self.moved.size if self.moved is not None else 0)

    def view(self) -> SessionView:
        opened = TailWindow(self.moved.sequence, tuple(self.moved.raws)) if self.moved is not None else None
        return SessionView(closed=self.closed, open=opened)


class TailFeed:
    """Notes which sessions have moved and, some times a second, writes how they stand to Redis.

    A session that moves a hundred times between two writes costs one write. While Redis is away the tails stand still, and what moved
    waits, within bounds: they are a view, and nothing is lost but the view.
    """

    def __init__(self, *, tail: SessionTail, metrics: Metrics) -> None:
        self._tail = tail
        self._metrics = metrics
        self._waiting: dict[tuple[str, str], _Waiting] = {}
        self._may_write: Callable[[], bool] | None = None
        self._writing = asyncio.Lock()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to write, once partitions are assigned."""
        self._task = asyncio.create_task(self._run(), name="session-tail")

    async def stop(self) -> None:
        """Stops; what waits is dropped."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        self._waiting.clear()

    def assign(self, may_write: Callable[[], bool]) -> None:
        """Partitions are ours from now on.

        Args:
            may_write: Asked right before every write; when it says no, another worker may have written newer tails, and what waits is
                dropped.
        """
        self._may_write = may_write
        self._wake.set()

    async def revoke(self) -> None:
        """No partition is ours until the next :meth:`assign`: drops what waits; on return nothing is written any more."""
        self._may_write = None
        async with self._writing:
            self._waiting.clear()

    def moved(self, state: SessionState) -> None:
        """A session's open window has changed."""
        self._waiting.setdefault((state.tenant, state.session), _Waiting()).moved = state
        self._wake.set()

    def closed(self, tenant: str, session: str, window: TailWindow) -> None:
        """A window has closed."""
        self._waiting.setdefault((tenant, session), _Waiting()).closed = window
        self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            pause_s = _INTERVAL_S
            if self._may_write is not None:
                async with self._writing:
                    is_written = await self._write(self._may_write)
                pause_s = _INTERVAL_S if is_written else _RETRY_S
                if self._waiting:
                    self._wake.set()
            await asyncio.sleep(pause_s)

    async def _write(self, may_write: Callable[[], bool]) -> bool:
        if not may_write():
            self._waiting.clear()
            return True
        taken = {name: self._waiting.pop(name) for name in [*self._waiting][:_AT_ONCE]}
        try:
            await self._tail.write([TailUpdate(*name, waiting.view()) for name, waiting in taken.items()])
        except InfrastructureError as error:
            _log.warning("session tails stand still", why=str(error))
            self._put_back(taken)
            return False
        return True

    def _put_back(self, taken: dict[tuple[str, str], _Waiting]) -> None:
        for name, old in taken.items():
            new = self._waiting.setdefault(name, _Waiting())
            new.moved = new.moved or old.moved
            new.closed = new.closed or old.closed
        kept = 0
        for name in [*self._waiting]:
            kept += self._waiting[name].size
            if kept > _MAX_KEPT_BYTES:
                del self._waiting[name]
                self._metrics.records.labels("sessions", "tail_skipped").inc()
