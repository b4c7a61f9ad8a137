"""Table of open connections: chooses the connection to close when there are too many. Pure."""

from typing import Generic, TypeVar

C = TypeVar("C")


class ConnectionTable(Generic[C]):
    """Open connections, up to a limit.

    One connection too many closes the one that has waited longest without a request: first the connections that have never sent a complete
    request head, then those between two requests. A client that opens connections and sends nothing thereby closes its own.

    uvicorn's ``limit_concurrency`` counts connections too, but it refuses the new request, so such a client would lock all others out.

    Args:
        limit: Maximum number of connections, at least 1.

    Raises:
        ValueError: The limit is below 1.
    """

    def __init__(self, *, limit: int) -> None:
        if limit < 1:
            raise ValueError(f"limit must be at least 1 connection, got {limit}")
        self._limit = limit
        # Dictionaries keep the order of insertion: the first connection is the oldest.
        self._silent: dict[C, None] = {}
        self._idle: dict[C, None] = {}
        self._busy: dict[C, None] = {}

    def __len__(self) -> int:
        return len(self._silent) + len(self._idle) + len(self._busy)

    def add(self, connection: C) -> C | None:
        """Adds a new connection.

        Returns:
            The connection to close, if there are too many: the new one itself if all others have a request in progress.
        """
        self._silent[connection] = None
        if len(self) <= self._limit:
            return None
        victim = next((each for each in (*self._silent, *self._idle) if each != connection), connection)
        self.remove(victim)
        return victim

    def request_began(self, connection: C) -> None:
        """Records a complete request head. A connection that is not in the table is not added."""
        if self._forget(connection):
            self._busy[connection] = None

    def request_ended(self, connection: C) -> None:
        """Records the end of a response."""
        if self._forget(connection):
            self._idle[connection] = None

    def remove(self, connection: C) -> None:
        """Removes a connection. Idempotent."""
        self._forget(connection)

    def _forget(self, connection: C) -> bool:
        for table in (self._silent, self._idle, self._busy):
            if connection in table:
                del table[connection]
                return True
        return False
