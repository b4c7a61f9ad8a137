"""Sends a process's spans to an OpenTelemetry collector, if the settings name one; otherwise the SDK is not even imported."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from runtime.logs import logger
from runtime.settings import TracingSettings
from runtime.settings_table import without_credentials
from runtime.tracing import record_spans

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

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


def _provider(tracing: TracingSettings, endpoint: str, process: str) -> "TracerProvider":
    # Imported only here, so that other processes save memory and start-up time.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    exporter = OTLPSpanExporter(endpoint=endpoint, headers=tracing.header_fields, timeout=_EXPORT_TIMEOUT_S)
    provider = TracerProvider(
        resource=Resource.create({"service.name": f"varve-{process}", "service.namespace": "varve"}),
        sampler=ParentBased(TraceIdRatioBased(tracing.sample_ratio)),
        # The end of the block shuts it down within a time limit; the interpreter would do so a second time.
        shutdown_on_exit=False,
    )
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
