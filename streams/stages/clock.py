"""Event-time clock of one partition, and the timers that it drives, for sessions and timelines."""

import heapq
from datetime import datetime, timedelta
from typing import Final

from memory.times import time_of_milliseconds

MOST_DUE: Final = 500
"""Timers of a partition that fire at once: their commands are one transaction, and are created without a pause."""


def clamp_event_time(time: datetime, *, appended_at: datetime, max_future: timedelta) -> datetime:
    """An event time, limited to a maximum distance after the log's append time, so that it cannot advance the clock too far.

    Args:
        time: The event time.
        appended_at: Append time of its record; a rebuild finds the same.
        max_future: The maximum distance (``VARVE_SESSIONS__MAX_FUTURE_S``).
    """
    return min(time, appended_at + max_future)


class PartitionClock:
    """The watermark of one partition.

    While nothing arrives it advances with the wall clock, so that an idle partition does not delay its timers. This class and
    :class:`Timers` need a wall clock that is never adjusted (:class:`runtime.clocks.SteadyClock`).

    Args:
        out_of_orderness_ms: Lag after the newest message.
        idle_ms: Wall-clock time without a message after which the partition is idle.
    """

    def __init__(self, *, out_of_orderness_ms: int, idle_ms: int) -> None:
        self._out_of_orderness_ms = out_of_orderness_ms
        self._idle_ms = idle_ms
        self._newest_ms: int | None = None
        self._arrived_ms = 0

    def observe(self, event_ms: int, wall_ms: int) -> bool:
        """Adds a message's event time.

        Args:
            event_ms: The event time.
            wall_ms: The wall clock.

        Returns:
            Whether it is late: earlier than the watermark.
        """
        late = self._newest_ms is not None and event_ms < self._newest_ms - self._out_of_orderness_ms
        self._newest_ms = event_ms if self._newest_ms is None else max(self._newest_ms, event_ms)
        self._arrived_ms = wall_ms
        return late

    def now_ms(self, wall_ms: int) -> int | None:
        """The watermark; None before the first message."""
        if self._newest_ms is None:
            return None
        silence = wall_ms - self._arrived_ms
        idle_for_ms = silence if silence >= self._idle_ms else 0
        return self._newest_ms - self._out_of_orderness_ms + idle_for_ms

    def time(self, wall: datetime) -> datetime | None:
        """The watermark as a time; None before the first message."""
        reached_ms = self.now_ms(int(wall.timestamp() * 1000))
        return None if reached_ms is None else time_of_milliseconds(reached_ms)


class Timers:
    """One timer per key: an open session, or a timeline. Moving a timer is cheap: the heap is corrected only when the old time is due."""

    def __init__(self) -> None:
        self._due: dict[bytes, int] = {}
        self._silent_since: dict[bytes, int] = {}
        self._heap: list[tuple[int, bytes]] = []
        self._queued: dict[bytes, int] = {}

    def __contains__(self, key: bytes) -> bool:
        return key in self._due

    def set(self, key: bytes, due_ms: int, wall_ms: int) -> None:
        """Sets or moves a key's timer.

        Args:
            key: The session or timeline.
            due_ms: Event time at which it is due.
            wall_ms: Arrival of the newest record of the key.
        """
        self._due[key] = due_ms
        self._silent_since[key] = wall_ms
        if key not in self._queued or due_ms < self._queued[key]:
            self._queue(key, due_ms)

    def cancel(self, key: bytes) -> None:
        """Cancels a key's timer."""
        self._due.pop(key, None)
        self._silent_since.pop(key, None)

    def due(self, now_ms: int, wall_ms: int, *, silence_ms: int) -> list[bytes]:
        """Removes and returns keys whose timers are due and that were silent on the wall clock; the longest due first, up to a limit.

        The silence keeps newer messages of other sessions from cutting a backfill of old messages. A timer fires once, however long its
        command waits in the log: the handler of the command sets the timer again if the command had no effect.

        Args:
            now_ms: The watermark.
            wall_ms: The wall clock.
            silence_ms: Required time without a record of the key.
        """
        due: list[bytes] = []
        requeued = []
        while self._heap and self._heap[0][0] <= now_ms and len(due) < MOST_DUE:
            queued_ms, key = heapq.heappop(self._heap)
            if self._queued.get(key) != queued_ms:
                continue
            del self._queued[key]
            due_ms = self._due.get(key)
            if due_ms is None:
                continue
            if due_ms <= now_ms and wall_ms - self._silent_since[key] >= silence_ms:
                self.cancel(key)
                due.append(key)
            else:
                requeued.append((key, due_ms))
        for key, due_ms in requeued:
            self._queue(key, due_ms)
        return due

    def _queue(self, key: bytes, due_ms: int) -> None:
        self._queued[key] = due_ms
        heapq.heappush(self._heap, (due_ms, key))
