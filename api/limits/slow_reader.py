"""Cuts off a client that reads its responses too slowly: what it has not read stays in the memory of the service."""

import asyncio
from collections.abc import Callable
from typing import Final

LEAST_READ: Final = 256 * 1024
"""Bytes that a client has to read within the time-out, or everything that is left."""


class ReaderWatch:
    """Looks at the unread bytes of one connection, once in each time-out while there are any.

    A client that reads a few bytes now and then makes progress in the eyes of the event loop, which continues the writing each time.

    Args:
        unread: Returns the number of written bytes that the client has not read.
        timeout_s: The time-out, in seconds.
        cut_off: Closes the connection.
    """

    def __init__(self, *, unread: Callable[[], int], timeout_s: float, cut_off: Callable[[], None]) -> None:
        self._unread = unread
        self._timeout_s = timeout_s
        self._cut_off = cut_off
        self._written = 0
        self._read_before = 0
        self._unread_before = 0
        self._timer: asyncio.TimerHandle | None = None

    def note_written(self, size: int) -> None:
        """Counts bytes that are written."""
        self._written += size

    def start(self) -> None:
        """Begins to look, unless it does already."""
        if self._timer is None:
            self._look_later()

    def stop(self) -> None:
        """Ends the watch."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def look(self) -> None:
        """Cuts the client off if it has read too little since the last look."""
        self._timer = None
        unread = self._unread()
        if not unread:
            return
        if self._written - unread - self._read_before < min(LEAST_READ, self._unread_before):
            self._cut_off()
        else:
            self._look_later()

    def _look_later(self) -> None:
        self._unread_before = self._unread()
        self._read_before = self._written - self._unread_before
        self._timer = asyncio.get_running_loop().call_later(self._timeout_s, self.look)
