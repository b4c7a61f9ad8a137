"""OpenTelemetry traces: W3C ``traceparent`` over HTTP and in record headers, the spans of Varve's processes, and their export.

Only this module uses OpenTelemetry. Without a collector in the settings, its SDK is not imported, no span is recorded, and trace contexts
are passed on unchanged. ``tracestate`` is dropped, as the recommendation permits (W3C Trace Context, 3.5).

No span contains text of a message or of an error, which may quote a message.
"""

import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Final

from opentelemetry import trace
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, SpanKind, Status, StatusCode, TraceFlags, Tracer, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from runtime.logs import logger
from runtime.settings import TracingSettings
from runtime.settings_table import without_credentials

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider as SDKTracerProvider


__all__ = ["NO_SPAN", "PRODUCED_AT", "TRACEPARENT", "Attributes", "Headers", "Span", "SpanContext", "SpanKind"]

TRACEPARENT: Final = "traceparent"
PRODUCED_AT: Final = "varve-produced-at"
"""Record header: when the record was produced, milliseconds since 1970 as decimal text."""

Headers = tuple[tuple[str, bytes], ...]
"""A record's headers: names and values, in order; names may repeat."""

Attributes = Mapping[str, str | bool | int | float | Sequence[str]]
"""Attributes of a span, with OpenTelemetry's names."""

_ERROR_TYPE: Final = "error.type"
_PROPAGATOR: Final = TraceContextTextMapPropagator()
NO_SPAN: Final[Span] = trace.INVALID_SPAN
"""A span that does nothing."""


class _Recorder:
    """Holds the tracer of this process; initially none."""

    tracer: Tracer | None = None


def record_spans(provider: TracerProvider | None) -> None:
    """Sets the provider that records spans from now on; None: no recording."""
    _Recorder.tracer = None if provider is None else provider.get_tracer("varve")


def is_recording() -> bool:
    """Whether spans are recorded; check it before preparing data only for spans."""
    return _Recorder.tracer is not None


def read_traceparent(traceparent: str) -> SpanContext | None:
    """Parses a ``traceparent``; None if it is invalid, because an invalid one starts a new trace."""
    found = trace.get_current_span(_PROPAGATOR.extract({TRACEPARENT: traceparent})).get_span_context()
    return found if found.is_valid else None


def trace_of(headers: Iterable[tuple[str, bytes | None]]) -> SpanContext | None:
    """The trace in a record's headers, if any; the last ``traceparent`` counts."""
    carried = [value for name, value in headers if name == TRACEPARENT and value]
    return read_traceparent(carried[-1].decode("ascii", "replace")) if carried else None


def write_traceparent(context: SpanContext) -> str:
    """The ``traceparent`` of a context."""
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier, trace.set_span_in_context(NonRecordingSpan(context)))
    return carrier[TRACEPARENT]


def trace_id(context: SpanContext) -> str:
    """The trace id as in logs and headers: 32 hexadecimal digits."""
    return trace.format_trace_id(context.trace_id)


def record_headers(context: SpanContext, produced_at: datetime) -> Headers:
    """The headers of every record."""
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
    """Starts a span; the caller ends it. Without recording, the span does nothing.

    Args:
        name: Name of the operation, without variable parts.
        kind: Kind of the span.
        parent: The parent span. Default: the current span, if any.
        links: Further spans that caused it.
        attributes: Attributes that are known at the start.
        started_ns: Start time, in nanoseconds since the epoch. Default: now.
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
    """Starts a span for an external request: continues the caller's trace or starts a new one. It has an id even without recording."""
    if _Recorder.tracer is not None:
        return _Recorder.tracer.start_span(
            name, context=trace.set_span_in_context(NonRecordingSpan(parent) if parent else NO_SPAN), kind=kind, attributes=attributes
        )
    return unrecorded_root_span(parent)


def unrecorded_root_span(parent: SpanContext | None) -> Span:
    """An unrecorded span with a new id, which appears in logs and in derived records.

    Args:
        parent: The caller's span. Default: a new trace.
    """
    trace_number = secrets.randbits(128) if parent is None else parent.trace_id
    flags = TraceFlags(TraceFlags.SAMPLED) if parent is None else parent.trace_flags
    return NonRecordingSpan(SpanContext(trace_number, secrets.randbits(64), is_remote=False, trace_flags=flags))


@contextmanager
def current(span: Span) -> Iterator[None]:
    """Makes a span the current one for the length of a block, then ends it. An error in the block is recorded by its class."""
    with trace.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield
        except BaseException as error:
            fail(span, type(error).__name__)
            raise


def fail(span: Span, reason: str) -> None:
    """Marks a span as failed.

    Args:
        span: The span.
        reason: A constant of low cardinality: an error's class or a dead letter's reason.
    """
    if span.is_recording():
        span.set_attribute(_ERROR_TYPE, reason)
        span.set_status(Status(StatusCode.ERROR))


_log = logger(__name__)
_SHUTDOWN_TIMEOUT_S: Final = 5.0
_EXPORT_TIMEOUT_S: Final = 5.0


@contextmanager
def exporting_spans(tracing: TracingSettings, *, process: str) -> Iterator[None]:
    """Records and sends the spans of this process for the length of a block; sends the rest at its end.

    Args:
        tracing: The collector and the sampled share of traces.
        process: A stage's name, or ``service``: part of ``service.name``.
    """
    if tracing.endpoint is None:
        yield
        return
    provider = _provider(tracing, tracing.endpoint, process)
    record_spans(provider)
    _log.info("spans_exported", endpoint=without_credentials(tracing.endpoint), sample_ratio=tracing.sample_ratio)
    try:
        yield
    finally:
        record_spans(None)
        # The shutdown waits longer for an unavailable collector, but an ending process has a deadline.
        shutdown = threading.Thread(target=provider.shutdown, daemon=True)
        shutdown.start()
        shutdown.join(_SHUTDOWN_TIMEOUT_S)


def _provider(tracing: TracingSettings, endpoint: str, process: str) -> "SDKTracerProvider":
    # Imported only here, so that other processes save memory and start-up time.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider as SDKTracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    exporter = OTLPSpanExporter(endpoint=endpoint, headers=tracing.header_fields, timeout=_EXPORT_TIMEOUT_S)
    provider = SDKTracerProvider(
        resource=Resource.create({"service.name": f"varve-{process}", "service.namespace": "varve"}),
        sampler=ParentBased(TraceIdRatioBased(tracing.sample_ratio)),
        # The end of the block shuts it down within a time limit; the interpreter would do so a second time.
        shutdown_on_exit=False,
    )
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
