"""Open connections of the service, up to a limit."""

from itertools import chain
from typing import Generic, TypeVar

C = TypeVar("C")


class ConnectionTable(Generic[C]):
    """Open connections, up to a limit.

    One connection too many closes the one that has waited longest: first the connections that have never sent a complete request head, then
    those between two requests, then those whose body is on its way. So a client that opens connections and sends nothing, or bodies in
    drops, closes only its own.

    uvicorn's ``limit_concurrency`` counts connections too, but it refuses the new request, so such a client would lock all others out.

    Args:
        limit: Maximum number of connections, at least 1.
    """

    def __init__(self, *, limit: int) -> None:
        if limit < 1:
            raise ValueError(f"limit must be at least 1 connection, got {limit}")
        self._limit = limit
        # Dictionaries keep the order of insertion: the first connection is the oldest.
        self._silent: dict[C, None] = {}
        self._idle: dict[C, None] = {}
        self._sending: dict[C, None] = {}
        self._busy: dict[C, None] = {}

    def __len__(self) -> int:
        return sum(map(len, self._tables))

    def add(self, connection: C) -> C | None:
        """Adds a new connection.

        Returns:
            The connection to close, if there are too many: the new one itself if all others have a complete request.
        """
        self._silent[connection] = None
        if len(self) <= self._limit:
            return None
        waiting = chain(self._silent, self._idle, self._sending)
        victim = next((each for each in waiting if each != connection), connection)
        self.remove(victim)
        return victim

    def body_began(self, connection: C) -> None:
        """Records a complete request head, or a further part of the body. A connection that is not in the table is not added."""
        self._move(connection, self._sending)

    def request_began(self, connection: C) -> None:
        """Records a complete request."""
        self._move(connection, self._busy)

    def request_ended(self, connection: C) -> None:
        """Records the end of a response."""
        self._move(connection, self._idle)

    def remove(self, connection: C) -> None:
        """Removes a connection. Idempotent."""
        for table in self._tables:
            table.pop(connection, None)

    @property
    def _tables(self) -> tuple[dict[C, None], ...]:
        return self._silent, self._idle, self._sending, self._busy

    def _move(self, connection: C, target: dict[C, None]) -> None:
        # A body in drops must not make its connection the newest one again and again.
        if connection in target or not any(connection in table for table in self._tables):
            return
        self.remove(connection)
        target[connection] = None
