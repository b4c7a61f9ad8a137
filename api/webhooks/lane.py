"""The deliveries of one webhook: which is due, what happens after an attempt, and what is no longer needed. Pure.

Deliveries run concurrently. Those of one memory run one after the other, in the order of its changes, and a newer change replaces an older
one that still waits or is a dead letter: a receiver wants the memory's current state. Too many waiting deliveries become dead letters
without an attempt, and wait again when fewer others wait: a receiver that is slower than an import gets everything, and one that is down is
asked only so often.
"""

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from memory.records import WebhookDelivery
from runtime.resilience import Backoff

BACKLOG: Final = "backlog"
"""Problem of a delivery that was not tried because too many were waiting."""
_MOST_REVIVED: Final = 500
"""Deliveries of a backlog that wait again at a time, so that the process is not busy with them for long."""
MOST_ENDED: Final = 10_000
"""Deliveries that end at a time, for the same reason."""
EXPIRY: Final = timedelta(days=28)
"""Dead letters are deleted after this time."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed attempt."""

    problem: str
    is_final: bool = False
    """Whether further attempts are pointless."""
    retry_after_s: float | None = None
    """The wait that the receiver asked for."""
    counts: bool = True
    """False: the receiver was not asked, so it does not count as an attempt."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Records to write after a record of the topic was taken in."""

    superseded: tuple[WebhookDelivery, ...] = ()
    """Deliveries that a newer change replaces: a tombstone for each."""
    backlog: tuple[WebhookDelivery, ...] = ()
    """New dead letters, which were not tried because too many wait: their records."""
    overwritten: tuple[WebhookDelivery, ...] = ()
    """Deliveries that were made again after a crash, over their state in the topic: their records."""


@dataclass(slots=True)
class _Entry:
    record: WebhookDelivery
    is_running: bool = False
    is_done: bool = False
    """Its tombstone is written, but was not read back yet."""
    counted_as: str | None = None


class Lane:
    """The deliveries of one webhook that are not finished.

    Args:
        backoff: Waits between attempts.
        attempts: Attempts of a delivery.
        concurrency: Most deliveries at a time.
        max_pending: Most waiting deliveries.
    """

    def __init__(self, *, backoff: Backoff, attempts: int, concurrency: int, max_pending: int) -> None:
        self._backoff = backoff
        self._attempts = attempts
        self._concurrency = concurrency
        self._max_pending = max_pending
        self._entries: dict[str, _Entry] = {}
        self._counts = {"pending": 0, "dead": 0}
        self._of_memory: dict[str, set[str]] = {}
        self._due: list[tuple[float, int, str]] = []
        self._dying: list[tuple[float, str]] = []
        """Dead letters by the time of their death: there may be millions."""
        self._backlog: deque[str] = deque()
        """Dead letters that were not tried, in the order of their changes."""
        self._held: dict[str, list[_Entry]] = {}
        """Due deliveries that wait until another one of their memory has run."""
        self._running: set[str] = set()
        """Memories with a running delivery."""

    def __bool__(self) -> bool:
        return bool(self._entries)

    @property
    def pending(self) -> int:
        """Number of waiting and running deliveries."""
        return self._counts["pending"]

    @property
    def dead(self) -> int:
        """Number of dead letters."""
        return self._counts["dead"]

    def take(self, record: WebhookDelivery, *, now: datetime) -> Taken:
        """Takes a record of the topic in.

        Args:
            record: A new delivery, a delivery that was made again, a redrive, or a record that this process wrote itself.
            now: The current time.
        """
        known = self._entries.get(record.id)
        if known is not None:
            return self._update(known, record)
        others = [self._entries[each] for each in self._of_memory.get(record.memory_id, ())]
        if any(each.record.offset > record.offset and not each.is_done for each in others):
            return Taken(superseded=(record,))
        ended = [each for each in others if not each.is_running and not each.is_done]
        for each in ended:
            self._end(each)
        backlog: tuple[WebhookDelivery, ...] = ()
        if record.state == "pending" and self.pending >= self._max_pending:
            record = record.model_copy(update={"state": "dead", "problem": BACKLOG, "dead_at": now})
            backlog = (record,)
        self._add(record)
        return Taken(superseded=tuple(each.record for each in ended), backlog=backlog)

    def revive(self) -> list[WebhookDelivery]:
        """Lets deliveries wait again that were not tried, if at most half of the waiting ones are left. Their records must be written."""
        revived: list[WebhookDelivery] = []
        if self.pending > self._max_pending // 2:
            return revived
        while self._backlog and self.pending < self._max_pending and len(revived) < _MOST_REVIVED:
            entry = self._entries.get(self._backlog.popleft())
            if entry is None or entry.is_done or not _is_untried(entry.record):
                continue
            updates = {"state": "pending", "problem": "", "dead_at": None, "redriven": entry.record.redriven + 1}
            entry.record = entry.record.model_copy(update=updates)
            self._count(entry)
            self._schedule(entry)
            revived.append(entry.record)
        return revived

    def forget(self, delivery_id: str) -> None:
        """Removes a delivery whose tombstone was read."""
        entry = self._entries.get(delivery_id)
        if entry is not None and not entry.is_running:
            self._remove(entry)

    def is_due(self, now: datetime) -> bool:
        """Whether a delivery may be due."""
        return bool(self._due) and self._due[0][0] <= now.timestamp()

    def start_next(self, now: datetime) -> WebhookDelivery | None:
        """Starts the delivery that has waited longest; None if none is due, or as many run as may."""
        while self._due and len(self._running) < self._concurrency and self._due[0][0] <= now.timestamp():
            due, _, delivery_id = heapq.heappop(self._due)
            entry = self._entries.get(delivery_id)
            if entry is None or not self._is_waiting(entry) or _due_at(entry.record) != due:
                continue
            memory = entry.record.memory_id
            if memory in self._running:
                self._held.setdefault(memory, []).append(entry)
                continue
            entry.is_running = True
            self._running.add(memory)
            return entry.record
        return None

    def on_delivered(self, delivery_id: str) -> None:
        """Ends a running delivery; its tombstone must be written."""
        self._end(self._stop(delivery_id))

    def on_failed(
        self, delivery_id: str, failure: Failure, *, now: datetime, uniform: Callable[[float, float], float]
    ) -> WebhookDelivery | None:
        """Ends a running attempt that failed.

        Args:
            delivery_id: The delivery.
            failure: The failure.
            now: The current time.
            uniform: The source of jitter.

        Returns:
            The record to write; None if a newer change of the memory replaces the delivery, so that its tombstone must be written.
        """
        entry = self._stop(delivery_id)
        if self._is_replaced(entry.record):
            self._end(entry)
            return None
        attempts = entry.record.attempts + failure.counts
        wait_s = max(self._backoff.jittered_s(max(1, attempts), uniform=uniform), failure.retry_after_s or 0.0)
        updates: dict[str, object] = {
            "attempts": attempts,
            "problem": failure.problem,
            "due_at": now + timedelta(seconds=wait_s),
        }
        if failure.counts and (failure.is_final or attempts >= self._attempts):
            updates |= {"state": "dead", "dead_at": now, "due_at": None}
        entry.record = entry.record.model_copy(update=updates)
        self._count(entry)
        self._schedule(entry)
        return entry.record

    def end_expired(self, now: datetime) -> list[WebhookDelivery]:
        """Ends dead letters that are too old, a limited number at a time; a tombstone must be written for each."""
        ended: list[WebhookDelivery] = []
        before = (now - EXPIRY).timestamp()
        while self._dying and self._dying[0][0] <= before and len(ended) < MOST_ENDED:
            died, delivery_id = heapq.heappop(self._dying)
            entry = self._entries.get(delivery_id)
            if entry is not None and not entry.is_done and _died_at(entry.record) == died:
                self._end(entry)
                ended.append(entry.record)
        return ended

    def end_all(self) -> list[WebhookDelivery]:
        """Ends deliveries that are not running, a limited number at a time; a tombstone must be written for each."""
        ending = (entry for entry in self._entries.values() if not entry.is_running and not entry.is_done)
        ended = list(islice(ending, MOST_ENDED))
        for entry in ended:
            self._end(entry)
        return [entry.record for entry in ended]

    def _update(self, entry: _Entry, record: WebhookDelivery) -> Taken:
        known = entry.record
        if entry.is_running or (entry.is_done and record.redriven <= known.redriven):
            return Taken()
        if _age(record) < _age(known):
            return Taken(overwritten=(known,)) if _is_new(record) else Taken()
        entry.record, entry.is_done = record, False
        self._count(entry)
        self._schedule(entry)
        return Taken()

    def _is_replaced(self, record: WebhookDelivery) -> bool:
        others = (self._entries[each] for each in self._of_memory[record.memory_id])
        return any(each.record.offset > record.offset and not each.is_done for each in others)

    def _add(self, record: WebhookDelivery) -> None:
        entry = self._entries[record.id] = _Entry(record)
        if _is_untried(record):
            self._backlog.append(record.id)
        self._of_memory.setdefault(record.memory_id, set()).add(record.id)
        self._count(entry)
        self._schedule(entry)

    def _remove(self, entry: _Entry) -> None:
        record = entry.record
        self._end(entry)
        del self._entries[record.id]
        ids = self._of_memory[record.memory_id]
        ids.discard(record.id)
        if not ids:
            del self._of_memory[record.memory_id]

    def _end(self, entry: _Entry) -> None:
        entry.is_done = True
        self._count(entry)

    def _count(self, entry: _Entry) -> None:
        if entry.counted_as is not None:
            self._counts[entry.counted_as] -= 1
        entry.counted_as = None if entry.is_done else entry.record.state
        if entry.counted_as is not None:
            self._counts[entry.counted_as] += 1

    def _schedule(self, entry: _Entry) -> None:
        died = _died_at(entry.record)
        if died is not None and not entry.is_done:
            heapq.heappush(self._dying, (died, entry.record.id))
        if self._is_waiting(entry):
            heapq.heappush(self._due, (_due_at(entry.record), entry.record.offset, entry.record.id))

    def _stop(self, delivery_id: str) -> _Entry:
        entry = self._entries[delivery_id]
        entry.is_running = False
        self._running.discard(entry.record.memory_id)
        for held in self._held.pop(entry.record.memory_id, ()):
            self._schedule(held)
        return entry

    @staticmethod
    def _is_waiting(entry: _Entry) -> bool:
        return entry.record.state == "pending" and not entry.is_running and not entry.is_done


def _is_new(record: WebhookDelivery) -> bool:
    """Whether nothing has happened to a delivery since it was made: a known one was made again then."""
    return record.state == "pending" and not record.attempts and not record.redriven and not record.problem


def _is_untried(record: WebhookDelivery) -> bool:
    return record.state == "dead" and record.problem == BACKLOG


def _died_at(record: WebhookDelivery) -> float | None:
    return record.dead_at.timestamp() if record.state == "dead" and record.dead_at is not None else None


def _due_at(record: WebhookDelivery) -> float:
    return 0.0 if record.due_at is None else record.due_at.timestamp()


def _age(record: WebhookDelivery) -> tuple[int, int, bool]:
    """Order of the records of one delivery."""
    return record.redriven, record.attempts, record.state == "dead"
