from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.tracing import PRODUCED_AT, TRACEPARENT, Trace, record_headers

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_a_traceparent_is_read_and_written_alike() -> None:
    trace = Trace.parse(PARENT)
    assert trace is not None
    assert trace.trace_id == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert trace.traceparent == PARENT


def test_a_newer_version_is_read_with_what_it_adds() -> None:
    trace = Trace.parse(PARENT.replace("00-", "01-", 1) + "-more")
    assert trace is not None
    assert trace.traceparent == PARENT


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "garbage",
        PARENT.upper(),
        PARENT.replace("00-", "ff-", 1),
        "00-" + "0" * 32 + "-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-" + "0" * 16 + "-01",
        PARENT[:-1],
    ],
)
def test_what_is_no_traceparent_starts_no_trace(wrong: str) -> None:
    assert Trace.parse(wrong) is None


@given(st.text(max_size=80))
def test_no_text_breaks_the_parser(text: str) -> None:
    trace = Trace.parse(text)
    assert trace is None or trace.trace_id in text


def test_a_child_stays_in_its_trace() -> None:
    trace = Trace.new()
    child = trace.child()
    assert child.trace_id == trace.trace_id
    assert child.span_id != trace.span_id
    assert Trace.parse(child.traceparent) == child


def test_record_headers_carry_the_trace_and_the_time() -> None:
    trace = Trace.new()
    headers = record_headers(trace, datetime(2024, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC))
    assert dict(headers) == {TRACEPARENT: trace.traceparent.encode(), PRODUCED_AT: b"1704067201500"}
    assert Trace.from_headers(headers) == trace
    assert Trace.from_headers([(TRACEPARENT, b"\xff")]) is None
