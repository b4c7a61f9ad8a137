"""What a process counts and measures, in Prometheus' form."""

import shutil
from functools import lru_cache
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
"""The media type of :meth:`Metrics.render`."""

_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


_OTHER: Final = "other"


class FirstTenants:
    """Names of tenants for labels: those that came first, as many as are allowed, and ``other`` for all the rest."""

    def __init__(self) -> None:
        self.most = 0
        """How many may be named."""
        self._named: set[str] = set()

    def label(self, tenant: str) -> str:
        """What stands for a tenant in a label."""
        if tenant in self._named:
            return tenant
        # Who bears the rest's name is counted with the rest.
        if len(self._named) < self.most and tenant != _OTHER:
            self._named.add(tenant)
            return tenant
        return _OTHER


class Metrics:
    """The metrics of one process, in a registry of their own.

    No label bears a user or a session, and only a few counters one of the first tenants: the number of the others has no bound.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.first_tenants = FirstTenants()
        ProcessCollector(registry=self.registry)
        self.records = self._counter("varve_records", "Records that a stage has finished, by outcome.", "stage", "outcome")
        self.dead_letters = self._counter("varve_dead_letters", "Records sent to the dead letters.", "stage", "reason")
        self.records_lost = self._gauge(
            "varve_records_lost", "Offsets that the log has lost under a stage, until the loss is accepted.", "stage", "topic", "partition"
        )
        self.background_failures = self._counter(
            "varve_background_failures", "Failures of work in the background that has to go on; it is started again after each.", "work"
        )
        self.retries = self._counter("varve_retries", "Tries of a record after its first.", "stage")
        self.parked = self._gauge("varve_parked_records", "Records that wait, parked, for their tenants' time.", "stage")
        self.parked_oldest = self._gauge(
            "varve_parked_oldest_timestamp_seconds", "When the oldest parked record was appended to its log; 0 where none is.", "stage"
        )
        self.in_flight = self._gauge("varve_in_flight", "Records in flight.", "stage")
        self.suspects = self._gauge("varve_suspects", "Records that may have killed the worker's process.", "stage")
        self.lag = self._gauge(
            "varve_lag_records", "Records between the committed offset and the partition's end.", "stage", "topic", "partition"
        )
        self.oldest_seconds = self._gauge(
            "varve_oldest_unacknowledged_seconds", "Age of the oldest record that is not acknowledged.", "stage", "topic", "partition"
        )
        self.retention_left_seconds = self._gauge(
            "varve_retention_left_seconds",
            "Time until the log may delete the oldest record that is not acknowledged.",
            *("stage", "topic", "partition"),
        )
        self.handling_seconds = self._histogram("varve_handling_seconds", "Time from taking a record in to finishing it.", "stage")
        self.age_seconds = self._histogram(
            "varve_age_seconds", "Time from the application producing a message to the stage finishing what comes of it.", "stage"
        )
        self.requests = self._counter("varve_http_requests", "Requests answered.", "method", "route", "status")
        self.request_seconds = self._histogram("varve_http_request_seconds", "Time to answer a request.", "method", "route")
        self.reads = self._counter("varve_reads", "Reads that came in, by outcome.", "outcome")
        self.read_queue_seconds = Histogram(
            "varve_read_queue_seconds", "Time that a read waited for its turn.", registry=self.registry, buckets=_SECONDS
        )
        self.reads_waiting = Gauge("varve_reads_waiting", "Reads that wait for their turn.", registry=self.registry)
        self.reads_running = Gauge("varve_reads_running", "Reads that run.", registry=self.registry)
        self.connections = Gauge("varve_http_connections", "Open connections.", registry=self.registry)
        self.connections_closed = self._counter("varve_http_connections_closed", "Connections that the service closed.", "reason")
        self.ready = self._gauge("varve_ready", "1 while a condition of the process's readiness holds.", "check")
        self.disk_free_bytes = Gauge("varve_disk_free_bytes", "Free on the disk of the process's data.", registry=self.registry)
        self.disk_size_bytes = Gauge("varve_disk_size_bytes", "Size of the disk of the process's data.", registry=self.registry)
        self.control_age = Gauge(
            "varve_control_age_seconds", "Time since all that the control log held was known here.", registry=self.registry
        )
        self.control_position = Gauge("varve_control_position", "Offset of the control log that is known here.", registry=self.registry)
        self.erasure_unfinished_since = Gauge(
            "varve_erasure_unfinished_since_timestamp_seconds",
            "When the oldest erasure was asked for that is not finished; 0 where none is.",
            registry=self.registry,
        )
        self.quota_checks = self._counter(
            "varve_quota_checks", "Requests held against their tenant's quotas, by who keeps them.", "kept_by"
        )
        self.quota_refusals = self._counter("varve_quota_refusals", "Requests refused for a quota of their tenant.", "quota")
        self.recall_paths = self._counter("varve_recall_paths", "Paths of recalls, by outcome.", "path", "outcome")
        self.recall_path_seconds = self._histogram("varve_recall_path_seconds", "Time that a path of a recall took.", "path")
        self.memories_recalled = Counter(
            "varve_memories_recalled", "Memories recalled for the first time ever, as Redis estimates it.", registry=self.registry
        )
        self.tenant_messages = self._counter("varve_tenant_messages", "Messages taken into windows.", "tenant")
        self.tenant_recalls = self._counter("varve_tenant_recalls", "Recalls and contexts answered.", "tenant")
        self.restore_left_rows = self._gauge(
            "varve_restore_left_rows", "Rows that a table's restore has still to read.", "stage", "partition"
        )
        self.restore_done_ratio = self._gauge("varve_restore_done_ratio", "Share of a table's restore that is done.", "stage", "partition")
        self.restore_left_seconds = self._gauge(
            "varve_restore_left_seconds", "Time that a table's restore will still take at its pace.", "stage", "partition"
        )
        self.table_bytes = self._gauge("varve_table_bytes", "Size of a partition's local table.", "stage", "partition")
        self.watermark_delay_seconds = self._gauge(
            "varve_watermark_delay_seconds", "How far event time is behind the wall clock.", "stage", "partition"
        )
        self.store_points = self._gauge("varve_store_points", "Points in the vector store, all tenants together.", "kind")
        self.store_bytes = self._gauge("varve_store_bytes", "Size of the vector store on disk.", "kind")
        self.recall_records = self._counter("varve_recall_records", "Recalls recorded in the stream, by outcome.", "outcome")

    def count_message(self, tenant: str) -> None:
        """Counts a message that a window has taken in."""
        self.tenant_messages.labels(self.first_tenants.label(tenant)).inc()

    def count_recall(self, tenant: str) -> None:
        """Counts a recall that was answered."""
        self.tenant_recalls.labels(self.first_tenants.label(tenant)).inc()

    def watch_disk(self, folder: Path) -> None:
        """Shows the disk that a folder lies on, as it is whenever the metrics are asked for."""
        self.disk_free_bytes.set_function(lambda: shutil.disk_usage(folder).free)
        self.disk_size_bytes.set_function(lambda: shutil.disk_usage(folder).total)

    def render(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(name, text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, *labels: str) -> Histogram:
        return Histogram(name, text, labels, registry=self.registry, buckets=_SECONDS)


@lru_cache(maxsize=1)
def metrics() -> Metrics:
    """The metrics of this process."""
    return Metrics()
