"""Which connections stand, and which one makes room when there are too many."""

from typing import Generic, TypeVar

C = TypeVar("C")


class ConnectionTable(Generic[C]):
    """The open connections, with a bound.

    One more than the bound makes the connection go that has waited longest without a request: first those that have never completed the
    head of one, then those between two requests. Whoever opens connections and says nothing so pushes out its own.

    Args:
        bound: Most connections, at least 1.

    Raises:
        ValueError: If the bound is below 1.
    """

    def __init__(self, *, bound: int) -> None:
        if bound < 1:
            raise ValueError(f"a table of connections needs room for at least 1, got {bound}")
        self._bound = bound
        # Dictionaries for their order: the first is the one that came first.
        self._silent: dict[C, None] = {}
        self._idle: dict[C, None] = {}
        self._busy: dict[C, None] = {}

    def __len__(self) -> int:
        return len(self._silent) + len(self._idle) + len(self._busy)

    def add(self, connection: C) -> C | None:
        """Adds a new connection.

        Returns:
            The connection that has to go, if one has to: the new one itself where all others have a request in work.
        """
        self._silent[connection] = None
        if len(self) <= self._bound:
            return None
        victim = next((each for each in (*self._silent, *self._idle) if each != connection), connection)
        self.remove(victim)
        return victim

    def request_began(self, connection: C) -> None:
        """The head of a request is complete. A connection that is not in the table stays out of it."""
        if self._forget(connection):
            self._busy[connection] = None

    def request_ended(self, connection: C) -> None:
        """The response is out."""
        if self._forget(connection):
            self._idle[connection] = None

    def remove(self, connection: C) -> None:
        """Removes a connection; harmless when repeated."""
        self._forget(connection)

    def _forget(self, connection: C) -> bool:
        for table in (self._silent, self._idle, self._busy):
            if connection in table:
                del table[connection]
                return True
        return False
