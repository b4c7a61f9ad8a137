"""Spans of the records that a stage processes: one per record, in the record's trace, from the start of processing to its end.

Spans of a batch that mixes many traces stay in their own traces. A record's outputs have its span's context, and become its children in the
next stage. If no spans are recorded, outputs have the record's own context.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Self

from runtime import tracing
from runtime.tracing import PRODUCED_AT, TRACEPARENT, Attributes, Headers, Span, SpanKind
from streams.engine.records import ConsumedRecord

_TRACEPARENT_BYTES: Final = 64
_LINKS_AT_MOST: Final = 128
"""The limit of links per span in OpenTelemetry's SDK."""


def start_record_span(stage: str, record: ConsumedRecord) -> Span:
    """Starts the span of a record, by OpenTelemetry's conventions for messaging."""
    attributes: Attributes = {
        "messaging.system": "kafka",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": record.topic,
        "messaging.destination.partition.id": str(record.partition),
        "messaging.kafka.offset": record.offset,
        "varve.stage": stage,
    }
    return tracing.start_root_span(f"process {record.topic}", kind=SpanKind.CONSUMER, parent=record.trace, attributes=attributes)


def context_of(record: ConsumedRecord, span: Span | None) -> Headers:
    """Headers for all outputs of a record; its own context if ``span`` is None."""
    if span is None:
        return record.context
    traceparent = tracing.write_traceparent(span.get_span_context()).encode("ascii")
    return ((TRACEPARENT, traceparent), (PRODUCED_AT, b"%d" % record.produced_ms))


class RecordSpans:
    """Spans of a batch's records, by offset.

    Args:
        spans: The spans.
    """

    def __init__(self, spans: dict[int, Span] | None = None) -> None:
        self._spans = spans or {}

    @classmethod
    def start(cls, stage: str, records: Iterable[ConsumedRecord]) -> Self:
        """Starts a span for each record of one partition; none if no spans are recorded."""
        return cls({record.offset: start_record_span(stage, record) for record in records} if tracing.is_recording() else None)

    def context_of(self, record: ConsumedRecord) -> Headers:
        """Headers for all outputs of one of the records."""
        return context_of(record, self._spans.get(record.offset))

    def traceparent_of(self, record: ConsumedRecord) -> str:
        """The same as text, to be stored until several records are combined; empty if there is none."""
        if (span := self._spans.get(record.offset)) is not None:
            return tracing.write_traceparent(span.get_span_context())
        written = record.header(TRACEPARENT) or b""
        # The header may contain anything, from any producer.
        return written.decode("ascii", "replace") if len(written) <= _TRACEPARENT_BYTES else ""

    def add_step(self, record: ConsumedRecord, name: str, *, started_ns: int, attributes: Attributes) -> None:
        """Adds a span for finished work on a record, possibly shared with others.

        Args:
            record: A record of the batch.
            name: Name of the work.
            started_ns: Its start, in nanoseconds since the epoch.
            attributes: Its attributes.
        """
        if (span := self._spans.get(record.offset)) is not None:
            parent = span.get_span_context()
            tracing.start_span(name, kind=SpanKind.CLIENT, parent=parent, attributes=attributes, started_ns=started_ns).end()

    def gather(self, name: str, causes: Sequence[str], *, record: ConsumedRecord) -> Headers:
        """Adds a span for one output made from many records, of this batch and of earlier ones.

        It continues the newest record's trace, and links to the others and to the triggering record.

        Args:
            name: Name of the output.
            causes: The ``traceparent`` of each record that has one, in order.
            record: The record of this batch that triggered the output.

        Returns:
            Trace context of the output; empty without causes.
        """
        if not causes:
            return ()
        newest = causes[-1]
        if (span := self._spans.get(record.offset)) is None:
            return ((TRACEPARENT, newest.encode("ascii")),)
        traces = [tracing.read_traceparent(each) for each in dict.fromkeys(causes) if each != newest]
        links = [*(each for each in traces if each is not None), span.get_span_context()][-_LINKS_AT_MOST:]
        gathered = tracing.start_span(name, parent=tracing.read_traceparent(newest), links=links)
        gathered.end()
        return ((TRACEPARENT, tracing.write_traceparent(gathered.get_span_context()).encode("ascii")),)

    def fail(self, record: ConsumedRecord, reason: str) -> None:
        """Marks a record's span as failed, with the reason."""
        if (span := self._spans.get(record.offset)) is not None:
            tracing.fail(span, reason)

    def end(self) -> None:
        """Ends all open spans: the outputs are durable, or have failed."""
        for span in self._spans.values():
            span.end()
        self._spans.clear()
