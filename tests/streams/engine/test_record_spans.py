"""The spans of records in a batch: each in its own trace, and linked if several records have one result."""

from memory.keys import encode_key
from runtime.kafka import OutgoingRecord
from runtime.tracing import PRODUCED_AT, TRACEPARENT, Headers, trace_id, trace_of
from streams.engine.record_spans import RecordSpans
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import PartitionState
from streams.engine.tasks.batch import Batch
from tests.recorded_spans import recorded_spans
from tests.streams.harness import APPENDED_AT, InMemoryRows, delivered

TRACES = [f"00-{number:032x}-{number:016x}-01" for number in range(1, 4)]


def _records() -> list[ConsumedRecord]:
    headers: list[Headers] = [((TRACEPARENT, each.encode()),) for each in TRACES]
    return [delivered("memories", offset, encode_key("acme"), b"text", headers=each) for offset, each in enumerate([*headers, ()])]


def _outputs(records: list[ConsumedRecord], spans: RecordSpans) -> list[OutgoingRecord]:
    batch = Batch(0, records, PartitionState(InMemoryRows(), _NoCodec(), cache_bytes=0), APPENDED_AT, spans=spans)
    for record in records:
        batch.emit(OutgoingRecord("out", b"k", b"v"), record)
    return batch.outputs


class _NoCodec:
    def encode(self, state: object) -> bytes:
        raise NotImplementedError

    def decode(self, raw: bytes) -> object:
        raise NotImplementedError


def test_a_mixed_batch_has_a_span_in_each_trace() -> None:
    records = _records()
    with recorded_spans() as exporter:
        spans = RecordSpans.start("index", records)
        outputs = _outputs(records, spans)
        spans.fail(records[1], "store_rejected")
        spans.end()
        finished = exporter.get_finished_spans()
    parents = [None if span.parent is None else span.parent.span_id for span in finished]
    assert parents == [1, 2, 3, None]
    assert [(span.attributes or {}).get("error.type") for span in finished] == [None, "store_rejected", None, None]
    for output, span in zip(outputs, finished, strict=True):
        carried = trace_of(output.headers)
        assert carried is not None
        assert span.context is not None
        assert (carried.trace_id, carried.span_id) == (span.context.trace_id, span.context.span_id)
        assert PRODUCED_AT in dict(output.headers)


def test_a_step_is_a_child_in_the_records_trace() -> None:
    records = _records()
    with recorded_spans() as exporter:
        spans = RecordSpans.start("index", records)
        spans.add_step(records[2], "upsert memory", started_ns=5, attributes={"db.operation.batch.size": 4})
        spans.end()
        step, *_, third, _ = exporter.get_finished_spans()
    assert (step.name, step.start_time, step.parent) == ("upsert memory", 5, third.context)


def test_outputs_of_many_records_continue_the_newest_trace() -> None:
    records = _records()
    with recorded_spans() as exporter:
        spans = RecordSpans.start("sessions", records)
        (header,) = spans.gather("close window", TRACES, record=records[3])
        spans.end()
        window, *_, command = exporter.get_finished_spans()
    carried = trace_of([header])
    assert carried is not None
    assert trace_id(carried) == TRACES[-1].split("-")[1]
    assert window.parent is not None
    assert window.parent.span_id == 3
    assert command.context is not None
    assert [link.context.span_id for link in window.links] == [1, 2, command.context.span_id]


def test_without_recording_contexts_pass_through_unread() -> None:
    records = _records()
    spans = RecordSpans.start("sessions", records)
    assert [output.headers for output in _outputs(records, spans)] == [record.context for record in records]
    assert spans.gather("close window", TRACES, record=records[3]) == ((TRACEPARENT, TRACES[-1].encode()),)
    assert spans.gather("close window", [], record=records[3]) == ()


def test_a_traceparent_that_is_kept_is_bounded() -> None:
    spans = RecordSpans()
    giant = delivered("messages", 0, b"k", b"v", headers=((TRACEPARENT, b"0" * 10_000),))
    assert spans.traceparent_of(giant) == ""
    assert [spans.traceparent_of(each) for each in _records()] == [*TRACES, ""]
