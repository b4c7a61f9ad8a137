"""Connections: a table that chooses which one to close when there are too many, and strict HTTP/1.1.

h11 is lenient in two places where the RFCs let a server choose, by which a proxy and this service may see different requests (request
smuggling), and it has no setting for either. uvicorn answers an h11 error with 400 and closes the connection.
"""

from typing import Generic, TypeVar

import h11
from h11._receivebuffer import ReceiveBuffer

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


_REFUSED_LINE_END = "a line of the head or trailer ends without a carriage return"
_REFUSED_FRAMING = "a request may not have both Transfer-Encoding and Content-Length"
_REFUSED_VERSION = "Transfer-Encoding needs HTTP/1.1"


class _StrictReceiveBuffer(ReceiveBuffer):
    """Refuses a bare line feed as the end of a line; h11 takes it in heads and trailers (RFC 9112, 2.2: a server may)."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """The lines up to the first empty one, once it has arrived.

        Raises:
            h11.RemoteProtocolError: If one of them, or the empty one, does not end with a carriage return and a line feed.
        """
        before = len(self)
        lines: list[bytearray] | None = super().maybe_extract_lines()
        if lines is not None and before - len(self) != sum(len(line) + 2 for line in lines) + 2:
            raise h11.RemoteProtocolError(_REFUSED_LINE_END)
        return lines


class StrictConnection(h11.Connection):
    """The server's side of a connection.

    Args:
        max_incomplete_event_size: Maximum size of a request's head, in bytes.
    """

    def __init__(self, max_incomplete_event_size: int) -> None:
        super().__init__(h11.SERVER, max_incomplete_event_size)
        self._receive_buffer = _StrictReceiveBuffer()

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """The next event of h11.

        Raises:
            h11.RemoteProtocolError: If the client breaks the protocol, or its request has no clear end (RFC 9112, 6.1: a server
                may refuse such a request, and has to close the connection).
        """
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if b"transfer-encoding" in names:
                if b"content-length" in names:
                    raise h11.RemoteProtocolError(_REFUSED_FRAMING)
                if event.http_version < b"1.1":
                    raise h11.RemoteProtocolError(_REFUSED_VERSION)
        return event
