"""Spans recorded in this process, for tests that look at them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from runtime.tracing import record_spans


@contextmanager
def recorded_spans() -> Iterator[InMemorySpanExporter]:
    """Records every span for the length of a block; ``get_finished_spans`` gives those that have ended."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    record_spans(provider)
    try:
        yield exporter
    finally:
        record_spans(None)
        provider.shutdown()


def ancestors(span: ReadableSpan, spans: Iterable[ReadableSpan]) -> list[str]:
    """The names on the way from a span up to the root of its trace, that of the span first."""
    by_id = {each.context.span_id: each for each in spans if each.context is not None}
    names, at = [span.name], span
    while at.parent is not None:
        at = by_id[at.parent.span_id]
        names.append(at.name)
    return names
