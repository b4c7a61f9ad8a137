"""A transport that sends the head of a response and the beginning of its body in one write."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

_HEAD_START: Final = b"HTTP/1.1 "


class OneWriteTransport:
    """A transport that writes the head of a response together with the first part of its body. uvicorn writes them one after the other.

    Each write is a system call, and wakes up the client.

    Args:
        transport: The transport.
        loop: Its event loop.
        on_write: Called with the size of each write.
    """

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, *, on_write: Callable[[int], None] = lambda size: None
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._on_write = on_write
        self._head = b""

    def write(self, data: bytes) -> None:
        """Writes bytes. The head of a response waits for the next write, but not longer than for the next iteration of the event loop."""
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(_HEAD_START):
            self._head = data
            self._loop.call_soon(self._flush)
            return
        self._write(data)

    def close(self) -> None:
        """Closes the connection after all bytes are written."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._write(head)

    def _write(self, data: bytes) -> None:
        # Counted first: a write may pause the writing, which looks at the count.
        self._on_write(len(data))
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        """Everything else is the transport's."""
        return getattr(self._transport, name)
