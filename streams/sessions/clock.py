"""The event-time clock of one partition, and the timers that it drives."""

import heapq


class PartitionClock:
    """A watermark: how far event time has come in one partition.

    It lies ``out_of_orderness_ms`` behind the newest message. Where nothing arrives for ``idle_ms`` of wall-clock time it moves on with
    the wall clock, so that a silent partition does not hold its sessions open.
    """

    def __init__(self, *, out_of_orderness_ms: int, idle_ms: int) -> None:
        self._out_of_orderness_ms = out_of_orderness_ms
        self._idle_ms = idle_ms
        self._newest_ms: int | None = None
        self._arrived_ms = 0

    def observe(self, event_ms: int, wall_ms: int) -> bool:
        """Notes a message.

        Returns:
            Whether it is late: behind the watermark.
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
        moved_on = silence if silence >= self._idle_ms else 0
        return self._newest_ms - self._out_of_orderness_ms + moved_on


class Timers:
    """One timer per open session: cheap to put off, since that only notes the new time, and the heap catches up when the old one is due."""

    def __init__(self) -> None:
        self._due: dict[bytes, int] = {}
        self._quiet_from: dict[bytes, int] = {}
        self._heap: list[tuple[int, bytes]] = []
        self._queued: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._due)

    def set(self, key: bytes, due_ms: int, wall_ms: int) -> None:
        """Sets or moves a session's timer.

        Args:
            key: The session.
            due_ms: Event time at which it is due.
            wall_ms: When the session's newest message arrived.
        """
        self._due[key] = due_ms
        self._quiet_from[key] = wall_ms
        if key not in self._queued or due_ms < self._queued[key]:
            self._queue(key, due_ms)

    def cancel(self, key: bytes) -> None:
        """Drops a session's timer."""
        self._due.pop(key, None)
        self._quiet_from.pop(key, None)

    def due(self, now_ms: int, wall_ms: int, *, quiet_ms: int) -> list[bytes]:
        """The sessions whose time has come, and to which nothing arrived for ``quiet_ms`` of wall-clock time.

        The second condition keeps a backfill of old messages from being cut to pieces by the newer messages of its neighbours. A session
        stays due, and is named again after another ``quiet_ms``, until its timer is moved or dropped.
        """
        found = []
        again = []
        while self._heap and self._heap[0][0] <= now_ms:
            queued_ms, key = heapq.heappop(self._heap)
            if self._queued.get(key) != queued_ms:
                continue
            del self._queued[key]
            due_ms = self._due.get(key)
            if due_ms is None:
                continue
            if due_ms <= now_ms and wall_ms - self._quiet_from[key] >= quiet_ms:
                self._quiet_from[key] = wall_ms
                found.append(key)
            again.append((key, due_ms))
        for key, due_ms in again:
            self._queue(key, due_ms)
        return found

    def open_sessions(self) -> list[bytes]:
        """All sessions with a timer: those with an open window."""
        return list(self._due)

    def _queue(self, key: bytes, due_ms: int) -> None:
        self._queued[key] = due_ms
        heapq.heappush(self._heap, (due_ms, key))
