"""A record's tenant, and the headers that it passes to its outputs."""

import pytest

from runtime.kafka import OutgoingRecord
from runtime.tracing import PRODUCED_AT, TRACEPARENT
from streams.engine.records import ConsumedRecord, propagate_context

TRACE = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def _record(*headers: tuple[str, bytes]) -> ConsumedRecord:
    return ConsumedRecord("varve.messages", 0, 7, b"k", b"v", headers, 1_700_000_000.5)


def test_outputs_have_the_trace_and_time_of_their_cause() -> None:
    record = _record((TRACEPARENT, TRACE), (PRODUCED_AT, b"1699999999000"), ("other", b"stays behind"))
    output = propagate_context(OutgoingRecord("varve.windows", b"k", b"w"), record.context)
    assert output.headers == ((TRACEPARENT, TRACE), (PRODUCED_AT, b"1699999999000"))
    assert record.trace_id == "0af7651916cd43dd8448eb211c80319c"


@pytest.mark.parametrize("header", [b"", b"soon", b"-5", b"9" * 5000])
def test_unreadable_production_time_falls_back_to_log_timestamp(header: bytes) -> None:
    record = _record((PRODUCED_AT, header))
    assert record.produced_ms == 1_700_000_000_500
    assert record.context == ((PRODUCED_AT, b"1700000000500"),)
    assert record.trace_id is None


def test_forwarded_record_keeps_its_headers() -> None:
    record = _record((TRACEPARENT, TRACE))
    forwarded = propagate_context(OutgoingRecord("varve.messages", b"k", b"v", record.headers), record.context)
    assert forwarded.headers == ((TRACEPARENT, TRACE), (PRODUCED_AT, b"1700000000500"))
    assert propagate_context(forwarded, record.context) == forwarded


@pytest.mark.parametrize(
    ("key", "tenant"), [(b"globex/ann", "globex"), (b"a%2Fb", "a/b"), (None, ""), (b"", ""), (b"\xff", ""), (b"a//b", "")]
)
def test_tenant_is_the_first_part_of_the_key(key: bytes | None, tenant: str) -> None:
    assert ConsumedRecord("varve.windows", 0, 0, key, None, (), 0.0).tenant == tenant
