"""Writes session tails and outcomes of changed messages to Redis: best effort, outside the delivery guarantees, never blocking them."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.errors import RedisUnavailableError
from runtime.metrics import Metrics
from runtime.redis.message_outcomes import MessageOutcome
from runtime.redis.session_tail import SessionView, TailUpdate, TailWindow
from streams.stages.sessions.windows import SessionState

_MAX_OUTCOMES: Final = 10_000
_OUTCOME_BATCH_SIZE: Final = 500

_INTERVAL_S: Final = 0.1
_RETRY_S: Final = 1.0
_BATCH_SIZE: Final = 250
_MAX_BATCH_BYTES: Final = 4 * 1024 * 1024
_MAX_PENDING_BYTES: Final = 32 * 1024 * 1024
"""Size limit of waiting and running writes, while Redis is unavailable, slow or merely late."""
_TAIL_BYTES: Final = 4096
"""Size of a tail beyond its messages."""


class OutcomeWriter:
    """Collects outcomes, and writes them at once. The oldest are dropped beyond 10,000: their requests answer that they are pending.

    Args:
        write: Writes outcomes: :meth:`runtime.redis.message_outcomes.MessageOutcomes.write`.
    """

    def __init__(self, write: Callable[[Sequence[MessageOutcome]], Awaitable[None]]) -> None:
        self._write = write
        self._waiting: deque[MessageOutcome] = deque(maxlen=_MAX_OUTCOMES)
        self._wake = asyncio.Event()

    def add(self, outcome: MessageOutcome) -> None:
        """Schedules the write of an outcome. It follows from the log, so a repetition writes the same."""
        self._waiting.append(outcome)
        self._wake.set()

    async def run(self) -> None:
        """Writes until it is cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), _OUTCOME_BATCH_SIZE))]
                try:
                    await self._write(batch)
                except RedisUnavailableError:
                    self._waiting.extendleft(reversed(batch[: _MAX_OUTCOMES - len(self._waiting)]))
                    await asyncio.sleep(_RETRY_S)


@dataclass(slots=True)
class _PendingTail:
    """Unwritten changes of one session; None: no change."""

    partition: int
    state: SessionState | None = None
    closed: TailWindow | None = None
    offset: int = -1
    """The newest message that was known when the window closed."""
    size: int = 0
    """Size at its last change."""

    def weigh(self) -> int:
        """Updates the size, since sessions grow.

        Returns:
            The growth.
        """
        closed = sum(map(len, self.closed.messages)) if self.closed is not None else 0
        before, self.size = self.size, _TAIL_BYTES + closed + (self.state.size if self.state is not None else 0)
        return self.size - before

    def overlay(self, newer: "_PendingTail") -> None:
        """Applies newer changes."""
        self.partition = newer.partition
        self.state = newer.state or self.state
        if newer.closed is not None:
            self.closed, self.offset = newer.closed, newer.offset

    def update(self, tenant: str, session: str) -> TailUpdate:
        opened = TailWindow(self.state.sequence, self.state.shown) if self.state is not None else None
        offset = self.offset if self.state is None else max(self.offset, self.state.last_offset)
        users = frozenset(() if self.state is None else self.state.authors) | (
            self.closed.users if self.closed is not None else frozenset()
        )
        return TailUpdate(tenant, session, SessionView(closed=self.closed, open=opened), self.partition, offset, users)


class TailWriter:
    """Collects changed sessions, and writes their tails several times a second.

    A session that changes a hundred times between two writes costs one write. The waiting and running writes are bounded: beyond that, the
    tail that has waited longest is skipped until its session's next message. The tails are a view: nothing else depends on them.

    Args:
        write: Writes tails: :meth:`runtime.redis.session_tail.SessionTail.write`.
        metrics: Counts skipped tails.
    """

    def __init__(self, *, write: Callable[[Iterable[TailUpdate]], Awaitable[None]], metrics: Metrics) -> None:
        self._write = write
        self._metrics = metrics
        self._pending: OrderedDict[tuple[str, str], _PendingTail] = OrderedDict()
        self._writing: dict[tuple[str, str], _PendingTail] = {}
        """The batch that is on its way to Redis."""
        self._pending_bytes = 0
        self._writing_bytes = 0
        self._may_write: Callable[[], bool] | None = None
        self._write_lock = asyncio.Lock()
        self._wake = asyncio.Event()

    def assign(self, may_write: Callable[[], bool]) -> None:
        """Allows writing.

        Args:
            may_write: Called right before every write. If it returns false, another worker may have written newer tails, and pending ones
                are dropped.
        """
        self._may_write = may_write
        self._wake.set()

    async def revoke(self) -> None:
        """Drops pending tails; after it returns, nothing is written until the next :meth:`assign`."""
        self._may_write = None
        async with self._write_lock:
            self._drop_pending()

    def window_changed(self, state: SessionState, *, partition: int) -> None:
        """Schedules the write of a changed session. It is written in the state that it has at that time."""
        self._add(_PendingTail(partition, state=state), state)

    def window_closed(self, state: SessionState, window: TailWindow, *, partition: int) -> None:
        """Schedules the write of the session's newest closed window, which has just closed or changed."""
        self._add(_PendingTail(partition, closed=window, offset=state.last_offset), state)

    def erased(self, tenant: str, user: str) -> None:
        """Removes an erased user's messages from closed windows that are not written yet, also after a failed write."""
        for pending_by_name in (self._pending, self._writing):
            for (owner, _), pending in pending_by_name.items():
                if owner == tenant and pending.closed is not None:
                    left = pending.closed.without(user)
                    pending.closed = left if left.messages or not pending.closed.messages else None

    def _add(self, change: _PendingTail, state: SessionState) -> None:
        pending = self._pending.setdefault((state.tenant, state.session), _PendingTail(change.partition))
        pending.overlay(change)
        self._pending_bytes += pending.weigh()
        self._skip_beyond_bound()
        self._wake.set()

    def _skip_beyond_bound(self) -> None:
        while self._pending and self._pending_bytes + self._writing_bytes > _MAX_PENDING_BYTES:
            _, skipped = self._pending.popitem(last=False)
            self._pending_bytes -= skipped.size
            self._metrics.records.labels("sessions", "tail_skipped").inc()

    def _drop_pending(self) -> None:
        self._pending.clear()
        self._pending_bytes = 0

    async def run(self) -> None:
        """Writes while partitions are assigned, until it is cancelled. After a failure, it continues with the pending tails."""
        self._wake.set()
        while True:
            await self._wake.wait()
            self._wake.clear()
            pause_s = _INTERVAL_S
            if self._may_write is not None:
                async with self._write_lock:
                    is_written = await self._write_batch(self._may_write)
                pause_s = _INTERVAL_S if is_written else _RETRY_S
                if self._pending:
                    self._wake.set()
            await asyncio.sleep(pause_s)

    async def _write_batch(self, may_write: Callable[[], bool]) -> bool:
        if not may_write():
            self._drop_pending()
            return True
        batch = self._writing = self._take_batch()
        try:
            await self._write([pending.update(*name) for name, pending in batch.items()])
        except RedisUnavailableError:
            self._writing_bytes = 0
            self._requeue(batch)
            return False
        except Exception:
            # The write that failed is unknown: each tail is written again with its session's next message.
            self._metrics.records.labels("sessions", "tail_skipped").inc(len(batch))
            raise
        finally:
            self._writing, self._writing_bytes = {}, 0
        return True

    def _take_batch(self) -> dict[tuple[str, str], _PendingTail]:
        """The tails that have waited longest, up to the size of a batch."""
        batch: dict[tuple[str, str], _PendingTail] = {}
        while self._pending and len(batch) < _BATCH_SIZE and self._writing_bytes < _MAX_BATCH_BYTES:
            name, pending = self._pending.popitem(last=False)
            batch[name] = pending
            self._pending_bytes -= pending.size
            self._writing_bytes += pending.size
        return batch

    def _requeue(self, batch: dict[tuple[str, str], _PendingTail]) -> None:
        for name, old in batch.items():
            if (newer := self._pending.get(name)) is not None:
                self._pending_bytes -= newer.size
                old.overlay(newer)
            old.size = 0
            self._pending[name] = old
            self._pending_bytes += old.weigh()
            self._pending.move_to_end(name, last=False)
        self._skip_beyond_bound()
