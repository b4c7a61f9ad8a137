"""What a record hands on to all that comes of it."""

import pytest

from runtime.tracing import PRODUCED_AT, TRACEPARENT
from streams.delivery.records import Delivered, Outgoing

TRACE = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def _record(*headers: tuple[str, bytes]) -> Delivered:
    return Delivered("varve.messages", 0, 7, b"k", b"v", headers, 1_700_000_000.5)


def test_what_comes_of_a_record_bears_its_trace_and_the_time_that_the_application_produced_it() -> None:
    record = _record((TRACEPARENT, TRACE), (PRODUCED_AT, b"1699999999000"), ("other", b"stays behind"))
    assert Outgoing("varve.windows", b"k", b"w").caused_by(record).headers == ((TRACEPARENT, TRACE), (PRODUCED_AT, b"1699999999000"))
    assert record.trace_id == "0af7651916cd43dd8448eb211c80319c"


@pytest.mark.parametrize("told", [b"", b"soon", b"-5", b"9" * 5000])
def test_a_record_without_a_readable_time_was_produced_when_its_log_says(told: bytes) -> None:
    record = _record((PRODUCED_AT, told))
    assert record.produced_ms == 1_700_000_000_500
    assert record.context == ((PRODUCED_AT, b"1700000000500"),)
    assert record.trace_id is None


def test_a_forwarded_record_keeps_the_headers_that_it_has() -> None:
    record = _record((TRACEPARENT, TRACE))
    forwarded = Outgoing("varve.messages", b"k", b"v", record.headers).caused_by(record)
    assert forwarded.headers == ((TRACEPARENT, TRACE), (PRODUCED_AT, b"1700000000500"))
    assert forwarded.caused_by(record) == forwarded
