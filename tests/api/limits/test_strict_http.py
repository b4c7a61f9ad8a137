"""A request whose end a proxy may see elsewhere is refused, and the requests that clients send are read as h11 reads them."""

import h11
import pytest
from h11._connection import DEFAULT_MAX_INCOMPLETE_EVENT_SIZE
from hypothesis import given
from hypothesis import strategies as st

from api.http.strict_parsing import StrictConnection

HEAD = b"POST /v1/messages HTTP/1.1\r\nHost: x\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
REFUSED = [
    HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    HEAD + b"content-length: 5\r\nTRANSFER-ENCODING: chunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"GET /healthz HTTP/1.1\nHost: x\n\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: b\nTransfer-Encoding: chunked\r\n\r\n",
    CHUNKED + b"0\r\n\n",
    CHUNKED + b"0\r\nX-Trailer: a\n\r\n",
    CHUNKED + b"2\nab\r\n0\r\n\r\n",
]
TAKEN = [
    HEAD + b"Content-Length: 2\r\n\r\na\n",
    HEAD + b"Content-Length: 0\r\n\r\n",
    CHUNKED + b"2\r\na\n\r\n0\r\n\r\n",
    CHUNKED + b"0\r\nX-Trailer: a\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Empty:\r\n\r\n",
    b"GET /healthz HTTP/1.0\r\n\r\n",
]


def strict() -> StrictConnection:
    return StrictConnection(DEFAULT_MAX_INCOMPLETE_EVENT_SIZE)


def events(connection: h11.Connection, sent: bytes, cuts: list[int]) -> list[str]:
    ends = [*sorted({min(cut, len(sent)) for cut in cuts}), len(sent)]
    found: list[str] = []
    begin = 0
    for end in ends:
        if end > begin:
            connection.receive_data(sent[begin:end])
        begin = end
        while (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            found.append(type(event).__name__)
    return [name for at, name in enumerate(found) if name != "Data" or found[at - 1] != "Data"]


@pytest.mark.parametrize("sent", REFUSED)
@given(cuts=st.lists(st.integers(1, 90), max_size=4))
def test_a_request_with_two_readings_is_refused(sent: bytes, cuts: list[int]) -> None:
    with pytest.raises(h11.RemoteProtocolError):
        events(strict(), sent, cuts)


@pytest.mark.parametrize("sent", TAKEN)
@given(cuts=st.lists(st.integers(1, 90), max_size=4))
def test_other_requests_are_read_as_before(sent: bytes, cuts: list[int]) -> None:
    read = events(strict(), sent, cuts)
    assert read == events(h11.Connection(h11.SERVER), sent, cuts)
    assert read[-1] == "EndOfMessage"
