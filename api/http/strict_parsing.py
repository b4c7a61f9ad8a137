"""Strict parsing of HTTP/1.1 requests.

h11 is lenient in two places where the RFCs let a server choose, by which a proxy and this service may see different requests (request
smuggling), and it has no setting for either. uvicorn answers an h11 error with 400 and closes the connection.
"""

import h11
from h11._receivebuffer import ReceiveBuffer

_REFUSED_LINE_END = "a line of the head or trailer ends without a carriage return"
_REFUSED_FRAMING = "a request may not have both Transfer-Encoding and Content-Length"
_REFUSED_VERSION = "Transfer-Encoding needs HTTP/1.1"


class _StrictReceiveBuffer(ReceiveBuffer):
    """Refuses a bare line feed as the end of a line; h11 takes it in heads and trailers (RFC 9112, 2.2: a server may)."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """The lines up to the first empty one, once it has arrived."""
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
        """The next event of h11."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if b"transfer-encoding" in names:
                if b"content-length" in names:
                    raise h11.RemoteProtocolError(_REFUSED_FRAMING)
                if event.http_version < b"1.1":
                    raise h11.RemoteProtocolError(_REFUSED_VERSION)
        return event
