from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime import tracing
from runtime.tracing import PRODUCED_AT, TRACEPARENT, SpanKind, read_traceparent, record_headers, trace_id, trace_of, write_traceparent
from tests.recorded_spans import recorded_spans

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_a_traceparent_is_read_as_written() -> None:
    trace = read_traceparent(PARENT)
    assert trace is not None
    assert trace_id(trace) == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert write_traceparent(trace) == PARENT


def test_a_traceparent_of_a_newer_version_is_read() -> None:
    trace = read_traceparent(PARENT.replace("00-", "01-", 1) + "-more")
    assert trace is not None
    assert write_traceparent(trace) == PARENT


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
def test_an_invalid_traceparent_starts_no_trace(wrong: str) -> None:
    assert read_traceparent(wrong) is None


@given(st.text(max_size=80))
def test_no_text_breaks_the_parser(text: str) -> None:
    trace = read_traceparent(text)
    assert trace is None or trace_id(trace) in text


def test_record_headers_carry_the_trace_and_the_time() -> None:
    trace = read_traceparent(PARENT)
    assert trace is not None
    headers = record_headers(trace, datetime(2024, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC))
    assert dict(headers) == {TRACEPARENT: PARENT.encode(), PRODUCED_AT: b"1704067201500"}
    found = trace_of(headers)
    assert found is not None
    assert write_traceparent(found) == PARENT
    assert trace_of([(TRACEPARENT, b"\xff")]) is None


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_root_span_stays_in_its_trace(is_recorded: bool) -> None:
    parent = read_traceparent(PARENT)
    if is_recorded:
        with recorded_spans():
            continued = tracing.start_root_span("work", kind=SpanKind.SERVER, parent=parent).get_span_context()
            begun = tracing.start_root_span("work", kind=SpanKind.SERVER, parent=None).get_span_context()
    else:
        continued = tracing.start_root_span("work", kind=SpanKind.SERVER, parent=parent).get_span_context()
        begun = tracing.start_root_span("work", kind=SpanKind.SERVER, parent=None).get_span_context()
    assert trace_id(continued) == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert write_traceparent(continued) != PARENT
    assert begun.is_valid
    assert trace_id(begun) != trace_id(continued)


def test_a_root_span_has_no_parent() -> None:
    with recorded_spans() as spans:
        with tracing.current(tracing.start_span("request")):
            tracing.start_root_span("record", kind=SpanKind.CONSUMER, parent=None).end()
            tracing.start_span("call").end()
        record, call, request = spans.get_finished_spans()
    assert record.parent is None
    assert call.parent == request.context


def test_an_error_is_recorded_without_its_message() -> None:
    with recorded_spans() as spans:
        with pytest.raises(ValueError, match="private"), tracing.current(tracing.start_span("work")):
            raise ValueError("private words of a message")
        (span,) = spans.get_finished_spans()
    assert (span.attributes or {})["error.type"] == "ValueError"
    assert "private" not in span.to_json()


def test_nothing_is_recorded_unless_a_provider_is_set() -> None:
    span = tracing.start_span("work")
    assert not tracing.is_recording()
    assert not span.is_recording()
    assert not span.get_span_context().is_valid
