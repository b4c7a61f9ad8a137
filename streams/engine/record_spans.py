"""The spans of records at work in a stage: one each, in the trace that the record bears, from when it is taken up to when it is done with.

So a batch that mixes many traces stays apart in each of them. What comes of a record bears its span's context, and is its child in the next
stage. While no span is recorded, it bears the record's own.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Self

from runtime import tracing
from runtime.tracing import PRODUCED_AT, TRACEPARENT, Attributes, Headers, Span, SpanKind
from streams.engine.records import ConsumedRecord

_TRACEPARENT_BYTES: Final = 64
_LINKS_AT_MOST: Final = 128
"""As many as OpenTelemetry's SDK keeps of a span."""


def start_record_span(stage: str, record: ConsumedRecord) -> Span:
    """Starts the span of a record, by OpenTelemetry's conventions for messaging.

    Args:
        stage: Who handles it.
        record: The record.
    """
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
    """What all that comes of a record bears.

    Args:
        record: The record.
        span: Its span; None: no spans are recorded.
    """
    if span is None:
        return record.context
    traceparent = tracing.write_traceparent(span.get_span_context()).encode("ascii")
    return ((TRACEPARENT, traceparent), (PRODUCED_AT, b"%d" % record.produced_ms))


class RecordSpans:
    """The spans of a batch's records, by their offsets in the one partition.

    Args:
        spans: They.
    """

    def __init__(self, spans: dict[int, Span] | None = None) -> None:
        self._spans = spans or {}

    @classmethod
    def start(cls, stage: str, records: Iterable[ConsumedRecord]) -> Self:
        """Starts the span of each record; none while no spans are recorded.

        Args:
            stage: Who handles them.
            records: Of one partition.
        """
        return cls({record.offset: start_record_span(stage, record) for record in records} if tracing.is_recording() else None)

    def context_of(self, record: ConsumedRecord) -> Headers:
        """What all that comes of one of the records bears."""
        return context_of(record, self._spans.get(record.offset))

    def traceparent_of(self, record: ConsumedRecord) -> str:
        """The same as text, to be kept with what is to come of several; empty where there is none."""
        if (span := self._spans.get(record.offset)) is not None:
            return tracing.write_traceparent(span.get_span_context())
        written = record.header(TRACEPARENT) or b""
        # Anybody may have written it, and anything.
        return written.decode("ascii", "replace") if len(written) <= _TRACEPARENT_BYTES else ""

    def add_step(self, record: ConsumedRecord, name: str, *, started_ns: int, attributes: Attributes) -> None:
        """Notes a piece of work, done by now, that was done for a record, perhaps together with others.

        Args:
            record: One of the batch.
            name: What was done.
            started_ns: When it was begun, in nanoseconds since the epoch.
            attributes: What is known of it.
        """
        if (span := self._spans.get(record.offset)) is not None:
            parent = span.get_span_context()
            tracing.start_span(name, kind=SpanKind.CLIENT, parent=parent, attributes=attributes, started_ns=started_ns).end()

    def gather(self, name: str, causes: Sequence[str], *, record: ConsumedRecord) -> Headers:
        """Notes that one thing has come of many records, of this batch and of earlier ones.

        It goes on in the trace of the newest of them; the others are linked, and so is the record that was the occasion.

        Args:
            name: What has come of them.
            causes: Their ``traceparent``, in their order; none of those that have none.
            record: Of this batch: the occasion.

        Returns:
            The trace context of what has come of them; nothing where they have none.
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
        """Notes that a record is refused, and by which reason."""
        if (span := self._spans.get(record.offset)) is not None:
            tracing.fail(span, reason)

    def end(self) -> None:
        """Ends all that are still open: what came of the records is durable, or has failed."""
        for span in self._spans.values():
            span.end()
        self._spans.clear()
