"""Feeds the session tails in Redis: best effort, behind the delivery rules, never in their way."""

import asyncio
import contextlib
from typing import Final

from runtime.errors import RuntimeFault
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.session_tail import SessionTail, SessionView, TailUpdate, TailWindow
from streams.sessions.windows import SessionState

_log = logger(__name__)
_INTERVAL_S: Final = 0.1
_AT_ONCE: Final = 250


class TailFeed:
    """Notes which sessions have moved and, some times a second, writes how they stand to Redis.

    A session that moves a hundred times between two writes costs one write. While Redis is away the tails stand still: they are a view,
    and nothing is lost but the view.
    """

    def __init__(self, *, tail: SessionTail, metrics: Metrics) -> None:
        self._tail = tail
        self._metrics = metrics
        self._moved: dict[tuple[str, str], SessionState] = {}
        self._closed: dict[tuple[str, str], TailWindow] = {}
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

    def moved(self, state: SessionState) -> None:
        """A session's open window has changed."""
        self._moved[state.tenant, state.session] = state
        self._wake.set()

    def closed(self, tenant: str, session: str, window: TailWindow) -> None:
        """A window has closed."""
        self._closed[tenant, session] = window
        self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            names = [*dict.fromkeys([*self._moved, *self._closed])][:_AT_ONCE]
            updates = [TailUpdate(*name, self._view(name)) for name in names]
            try:
                await self._tail.write(updates)
            except RuntimeFault as error:
                self._metrics.records.labels("sessions", "tail_skipped").inc(len(updates))
                _log.warning("session tails stand still", why=str(error))
            if self._moved or self._closed:
                self._wake.set()
            await asyncio.sleep(_INTERVAL_S)

    def _view(self, name: tuple[str, str]) -> SessionView:
        state = self._moved.pop(name, None)
        opened = TailWindow(state.sequence, tuple(state.raws)) if state is not None else None
        return SessionView(closed=self._closed.pop(name, None), open=opened)
