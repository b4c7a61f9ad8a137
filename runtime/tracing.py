"""Traces by OpenTelemetry: W3C ``traceparent`` over HTTP and in record headers, and the spans that Varve's processes record.

The one home of OpenTelemetry's API; :mod:`runtime.trace_export` sets its SDK up. While nothing is set up no span is recorded: trace
contexts travel on as they came. ``tracestate`` is not carried on, as the recommendation permits (W3C Trace Context, 3.5).

No span bears text of a message, nor an error's own words, which may quote one.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from opentelemetry import trace
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, SpanKind, Status, StatusCode, TraceFlags, Tracer, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

__all__ = ["NO_SPAN", "PRODUCED_AT", "TRACEPARENT", "Attributes", "Headers", "Span", "SpanContext", "SpanKind"]

TRACEPARENT: Final = "traceparent"
PRODUCED_AT: Final = "varve-produced-at"
"""Record header: when the record was produced, milliseconds since 1970 as decimal text."""

Headers = tuple[tuple[str, bytes], ...]
"""A record's headers: names and values, in order; a name may stand more than once."""

Attributes = Mapping[str, str | bool | int | float | Sequence[str]]
"""What a span says of its work, by OpenTelemetry's names."""

_ERROR_TYPE: Final = "error.type"
_PROPAGATOR: Final = TraceContextTextMapPropagator()
NO_SPAN: Final[Span] = trace.INVALID_SPAN
"""A span that does nothing."""


class _Recorder:
    """What records this process's spans; nothing at first."""

    tracer: Tracer | None = None


def record_spans(provider: TracerProvider | None) -> None:
    """Lets spans be recorded by a provider from now on; None: by nothing."""
    _Recorder.tracer = None if provider is None else provider.get_tracer("varve")


def is_recording() -> bool:
    """Whether spans are recorded at all: who has to prepare something for them asks first."""
    return _Recorder.tracer is not None


def read_traceparent(traceparent: str) -> SpanContext | None:
    """Reads a ``traceparent``; None where it is not one, for a wrong one starts a new trace."""
    found = trace.get_current_span(_PROPAGATOR.extract({TRACEPARENT: traceparent})).get_span_context()
    return found if found.is_valid else None


def trace_of(headers: Iterable[tuple[str, bytes | None]]) -> SpanContext | None:
    """The trace that a record's headers carry, if they do; the last ``traceparent`` counts."""
    carried = [value for name, value in headers if name == TRACEPARENT and value]
    return read_traceparent(carried[-1].decode("ascii", "replace")) if carried else None


def write_traceparent(context: SpanContext) -> str:
    """The text that travels."""
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier, trace.set_span_in_context(NonRecordingSpan(context)))
    return carrier[TRACEPARENT]


def trace_id(context: SpanContext) -> str:
    """A trace's id as logs and headers bear it: 32 hexadecimal digits."""
    return trace.format_trace_id(context.trace_id)


def record_headers(context: SpanContext, produced_at: datetime) -> Headers:
    """The headers that every record bears."""
    produced_ms = str(int(produced_at.timestamp() * 1000)).encode("ascii")
    return ((TRACEPARENT, write_traceparent(context).encode("ascii")), (PRODUCED_AT, produced_ms))


def start_span(
    name: str,
    *,
    kind: SpanKind = SpanKind.INTERNAL,
    parent: SpanContext | None = None,
    links: Iterable[SpanContext] = (),
    attributes: Attributes | None = None,
    started_ns: int | None = None,
) -> Span:
    """Starts a span, which whoever starts it ends. While nothing is recorded it is one that does nothing.

    Args:
        name: What is done, without what varies from one record to the next.
        kind: Its part in a call.
        parent: The span that caused it; the current one where it is None, and none where there is none.
        links: Spans that it rests on as well.
        attributes: What is known of it at its start.
        started_ns: When it started, in nanoseconds since the epoch; now unless given.
    """
    tracer = _Recorder.tracer
    if tracer is None:
        return NO_SPAN
    return tracer.start_span(
        name,
        context=None if parent is None else trace.set_span_in_context(NonRecordingSpan(parent)),
        kind=kind,
        links=[Link(each) for each in links],
        attributes=attributes,
        start_time=started_ns,
    )


def start_root_span(name: str, *, kind: SpanKind, parent: SpanContext | None, attributes: Attributes | None = None) -> Span:
    """Starts a span at the edge of Varve: what it belongs to came from outside, or else it begins a trace. It has an id in any case.

    Args:
        name: What is done.
        kind: Its part in a call.
        parent: As it came in.
        attributes: What is known of it at its start.
    """
    if _Recorder.tracer is not None:
        return _Recorder.tracer.start_span(
            name, context=trace.set_span_in_context(NonRecordingSpan(parent) if parent else NO_SPAN), kind=kind, attributes=attributes
        )
    return unrecorded_root_span(parent)


def unrecorded_root_span(parent: SpanContext | None) -> Span:
    """A span with an id of its own that is recorded nowhere: logs and what comes of its work bear that id.

    Args:
        parent: As it came in; None: a trace begins.
    """
    trace_number = secrets.randbits(128) if parent is None else parent.trace_id
    flags = TraceFlags(TraceFlags.SAMPLED) if parent is None else parent.trace_flags
    return NonRecordingSpan(SpanContext(trace_number, secrets.randbits(64), is_remote=False, trace_flags=flags))


@contextmanager
def current(span: Span) -> Iterator[None]:
    """Makes a span the current one for the length of a block, and ends it then; an error that the block raises is noted by its kind."""
    with trace.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield
        except BaseException as error:
            fail(span, type(error).__name__)
            raise


def fail(span: Span, reason: str) -> None:
    """Notes that the work of a span failed.

    Args:
        span: The span.
        reason: A word out of few: an error's class, a dead letter's reason.
    """
    if span.is_recording():
        span.set_attribute(_ERROR_TYPE, reason)
        span.set_status(Status(StatusCode.ERROR))
