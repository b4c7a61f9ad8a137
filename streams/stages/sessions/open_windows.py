"""Open windows of one partition: when silence closes them, their tenants, and their marks for a restore.

Each has a mark among the rows (:mod:`streams.stages.sessions.partition_rows`), from the batch that opens it to the batch that closes it.
"""

from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from runtime.settings import SessionSettings
from streams.engine.state.partition_state import PartitionState
from streams.stages.clock import PartitionClock, Timers
from streams.stages.sessions.partition_rows import CLOCK_KEY, LogTime, OpenWindowMark, mark_key
from streams.stages.sessions.windows import SessionState


class OpenWindow(NamedTuple):
    """Data of an open window without its session's row."""

    tenant: str
    session: str
    sequence: int
    last_offset: int
    last_event_ms: int


class OpenWindows:
    """The open windows of one partition, with its event-time clock."""

    def __init__(self, *, limits: SessionSettings, due_ms: Callable[[SessionState], int]) -> None:
        self._due_ms = due_ms
        self._silence_ms = int(limits.idle_partition_s * 1000)
        self.clock = PartitionClock(out_of_orderness_ms=int(limits.out_of_orderness_s * 1000), idle_ms=self._silence_ms)
        self._timers = Timers()
        self._open: dict[bytes, OpenWindow] = {}
        self._by_tenant: defaultdict[str, set[bytes]] = defaultdict(set)
        self._was_open: dict[bytes, bool] = {}
        """Sessions that the batch changes, and whether they had an open window before it."""
        self._newest_ms: int | None = None
        self._newest_of = b""

    def recover(self, key: bytes, session: SessionState, wall_ms: int) -> None:
        """Registers a session found by a restore."""
        self.observe(key, session.last_event_ms, wall_ms)
        self._track(key, session, wall_ms)

    def begin(self, states: PartitionState[Any], wall_ms: int, *, has_failed: bool) -> None:
        """Begins a batch; ``has_failed``: the last batch did not count, so its changes are reset to the rows."""
        if has_failed:
            for key in self._was_open:
                self._restore(states, key, wall_ms)
        self._was_open.clear()

    def observe(self, key: bytes, event_ms: int, wall_ms: int) -> bool:
        """Adds a message's event time to the clock; returns whether it is late."""
        if self._newest_ms is None or event_ms > self._newest_ms:
            self._newest_ms, self._newest_of = event_ms, key
        return self.clock.observe(event_ms, wall_ms)

    def changed(self, key: bytes, session: SessionState, wall_ms: int) -> None:
        """Sets, moves or cancels the timer of a session that a record has changed."""
        self._was_open.setdefault(key, key in self._open)
        self._track(key, session, wall_ms)

    def end(self, states: PartitionState[Any], *, minute: int, offset: int) -> None:
        """Ends a batch: marks the windows that it opened, and writes the log's time if no other row has it.

        ``minute`` is the log's time, ``offset`` the offset of the batch's last record.
        """
        for key, was_open in self._was_open.items():
            if was_open and key not in self._open:
                states.delete(mark_key(key), position=offset)
            elif not was_open and key in self._open:
                states.put(mark_key(key), OpenWindowMark(), position=offset)
        written = states.get(CLOCK_KEY)
        if written is None or written.minute < minute or self._is_missing(written):
            states.put(CLOCK_KEY, LogTime(minute, self._newest_ms), position=offset)

    def refused(self, states: PartitionState[Any], key: bytes, wall_ms: int) -> None:
        """Sets the timer again if a dead-lettered record was the timer's command."""
        if key in self._open and key not in self._timers:
            self._restore(states, key, wall_ms)

    def of(self, tenant: str | None) -> Collection[bytes]:
        """The keys of a tenant's sessions with an open window; None: of all tenants."""
        return self._open if tenant is None else self._by_tenant.get(tenant, ())

    def due(self, wall_ms: int) -> list[tuple[bytes, OpenWindow]]:
        """The windows that silence closes now, with their sessions' keys: each once, until its timer is set again."""
        event_now = self.clock.now_ms(wall_ms)
        if event_now is None:
            return []
        return [(key, self._open[key]) for key in self._timers.due(event_now, wall_ms, silence_ms=self._silence_ms)]

    def _is_missing(self, written: LogTime) -> bool:
        """Whether the newest event time is neither in the time's row nor in the open window of its message."""
        if self._newest_ms is None or (written.newest_ms is not None and written.newest_ms >= self._newest_ms):
            return False
        window = self._open.get(self._newest_of)
        return written.newest_ms is None or window is None or window.last_event_ms < self._newest_ms

    def _restore(self, states: PartitionState[Any], key: bytes, wall_ms: int) -> None:
        session = states.get(key)
        if isinstance(session, SessionState):
            self._track(key, session, wall_ms)
        else:
            self._untrack(key)

    def _track(self, key: bytes, session: SessionState, wall_ms: int) -> None:
        if not session.is_open:
            self._untrack(key)
            return
        self._timers.set(key, self._due_ms(session), wall_ms)
        self._by_tenant[session.tenant].add(key)
        self._open[key] = OpenWindow(session.tenant, session.session, session.sequence, session.last_offset, session.last_event_ms)

    def _untrack(self, key: bytes) -> None:
        self._timers.cancel(key)
        window = self._open.pop(key, None)
        if window is not None:
            keys = self._by_tenant[window.tenant]
            keys.discard(key)
            if not keys:
                del self._by_tenant[window.tenant]
