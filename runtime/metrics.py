"""Prometheus metrics of a process."""

import math
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
    """Tenant labels: the first tenants by name, up to a limit; ``other`` for all others."""

    def __init__(self) -> None:
        self.most = 0
        """Limit for tenants with their own label."""
        self._named: set[str] = set()

    def label(self, tenant: str) -> str:
        """The label of a tenant."""
        if tenant in self._named:
            return tenant
        # A tenant named "other" is counted with the others.
        if len(self._named) < self.most and tenant != _OTHER:
            self._named.add(tenant)
            return tenant
        return _OTHER


class Metrics:
    """The metrics of one process, in a separate registry.

    No label contains a user or a session, and only a few counters have a label for the first tenants, because the numbers are unbounded.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.first_tenants = FirstTenants()
        ProcessCollector(registry=self.registry)
        self._add_stage_metrics()
        self._add_service_metrics()
        self._add_operation_metrics()
        self._add_process_metrics()

    def count_message(self, tenant: str) -> None:
        """Counts a message that was added to a window."""
        self.tenant_messages.labels(self.first_tenants.label(tenant)).inc()

    def count_recall(self, tenant: str) -> None:
        """Counts a recall that was answered."""
        self.tenant_recalls.labels(self.first_tenants.label(tenant)).inc()

    def watch_disk(self, folder: Path) -> None:
        """Reports the free space and size of a folder's disk, read when the metrics are rendered."""
        self.disk_free_bytes.set_function(lambda: _disk_usage(folder)[0])
        self.disk_size_bytes.set_function(lambda: _disk_usage(folder)[1])

    def render(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)

    def _add_stage_metrics(self) -> None:
        """Delivery and state of the stages."""
        self.records = self._counter("varve_records", "Records that a stage has processed, by outcome.", "stage", "outcome")
        self.dead_letters = self._counter("varve_dead_letters", "Records sent to the dead letters.", "stage", "reason")
        self.records_lost = self._gauge(
            "varve_records_lost",
            "Offsets that the log lost before a stage read them, until the loss is accepted.",
            "stage",
            "topic",
            "partition",
        )
        self.retries = self._counter("varve_retries", "Retries of records.", "stage")
        self.parked = self._gauge("varve_parked_records", "Parked records, which wait until their tenant may proceed.", "stage")
        self.parked_oldest = self._gauge(
            "varve_parked_oldest_timestamp_seconds", "Append time of the oldest parked record; 0 if none is parked.", "stage"
        )
        self.in_flight = self._gauge("varve_in_flight", "Records in flight.", "stage")
        self.suspects = self._gauge("varve_suspects", "Records that are suspected of having crashed a worker.", "stage")
        self.lag = self._gauge(
            "varve_lag_records", "Records between the committed offset and the partition's end.", "stage", "topic", "partition"
        )
        self.oldest_seconds = self._gauge(
            "varve_oldest_unacknowledged_seconds", "Age of the oldest unacknowledged record.", "stage", "topic", "partition"
        )
        self.retention_left_seconds = self._gauge(
            "varve_retention_left_seconds",
            "Time until the log may delete the oldest unacknowledged record.",
            "stage",
            "topic",
            "partition",
        )
        self.handling_seconds = self._histogram("varve_handling_seconds", "Time from receiving a record to finishing it.", "stage")
        self.age_seconds = self._histogram(
            "varve_age_seconds", "Time from producing a message to finishing the records derived from it in a stage.", "stage"
        )
        self.tenant_messages = self._counter("varve_tenant_messages", "Messages added to windows.", "tenant")
        self.restore_left_rows = self._gauge(
            "varve_restore_left_rows", "Rows that the restore of a table still has to read.", "stage", "partition"
        )
        self.restore_done_ratio = self._gauge(
            "varve_restore_done_ratio", "Completed share of the restore of a table.", "stage", "partition"
        )
        self.restore_left_seconds = self._gauge(
            "varve_restore_left_seconds", "Estimated remaining time of the restore of a table.", "stage", "partition"
        )
        self.table_bytes = self._gauge("varve_table_bytes", "Size of a partition's local table.", "stage", "partition")
        self.watermark_delay_seconds = self._gauge(
            "varve_watermark_delay_seconds", "Delay of event time relative to the wall clock.", "stage", "partition"
        )

    def _add_service_metrics(self) -> None:
        """Requests, recalls and webhooks of the query service."""
        self.requests = self._counter("varve_http_requests", "Requests answered.", "method", "route", "status")
        self.request_seconds = self._histogram("varve_http_request_seconds", "Time to answer a request.", "method", "route")
        self.reads = self._counter("varve_reads", "Received reads, by outcome.", "outcome")
        self.read_queue_seconds = self._histogram("varve_read_queue_seconds", "Time that a read waited for its turn.")
        self.reads_waiting = self._gauge("varve_reads_waiting", "Reads that wait for their turn.")
        self.reads_running = self._gauge("varve_reads_running", "Reads that run.")
        self.connections = self._gauge("varve_http_connections", "Open connections.")
        self.connections_closed = self._counter("varve_http_connections_closed", "Connections that the service closed.", "reason")
        self.webhook_deliveries = self._counter(
            "varve_webhook_deliveries",
            "Attempts to deliver to webhooks, and deliveries without an attempt: delivered, failed, dead, superseded or dropped.",
            "outcome",
        )
        self.webhook_delivery_seconds = self._histogram("varve_webhook_delivery_seconds", "Duration of a successful delivery to a webhook.")
        self.webhooks_pending = self._gauge("varve_webhooks_pending", "Deliveries to webhooks that wait or run in this process.")
        self.webhooks_dead = self._gauge("varve_webhooks_dead", "Dead letters of webhooks whose partitions this process has.")
        self.quota_checks = self._counter(
            "varve_quota_checks", "Requests checked against their tenant's quotas, by the place of the check.", "kept_by"
        )
        self.quota_refusals = self._counter("varve_quota_refusals", "Requests rejected because of a quota of their tenant.", "quota")
        self.recall_paths = self._counter("varve_recall_paths", "Paths of recalls, by outcome.", "path", "outcome")
        self.sift_answers = self._counter("varve_sift_answers", "Answers of the model of `mode=sift`, by their use.", "outcome")
        self.recall_path_seconds = self._histogram("varve_recall_path_seconds", "Duration of a recall path.", "path")
        self.memories_recalled = self._counter("varve_memories_recalled", "Memories recalled for the first time, estimated by Redis.")
        self.tenant_recalls = self._counter("varve_tenant_recalls", "Recalls and contexts answered.", "tenant")
        self.recall_records = self._counter("varve_recall_records", "Recalls recorded in the stream, by outcome.", "outcome")
        self.read_records = self._counter("varve_read_records", "Records of the read audit, by outcome.", "outcome")

    def _add_operation_metrics(self) -> None:
        """Erasures, retention, proofs and re-extractions."""
        self.erasure_unfinished_since = self._gauge(
            "varve_erasure_unfinished_since_timestamp_seconds", "Request time of the oldest unfinished erasure; 0 if there is none."
        )
        self.retention_removed = self._counter(
            "varve_retention_removed", "Items that runs of this process have removed because their tenant keeps them no longer.", "kind"
        )
        self.proved_users = self._counter(
            "varve_proved_users", "Users whose memories were made again from the log: equal, different or unsettled.", "outcome"
        )
        self.proof_differences = self._counter(
            "varve_proof_differences", "Memories that are served differently than the log gives them: missing, extra or changed.", "problem"
        )
        for problem in ("missing", "extra", "changed"):
            # A rate is unknown at the first value of a series: without a 0 before it, no alert would notice it.
            self.proof_differences.labels(problem)
        self.proved_at = self._gauge("varve_proof_last_timestamp_seconds", "Time of the last proof that this process ended; 0: none.")
        self.reextraction_windows_left = self._gauge(
            "varve_reextraction_windows_left",
            "Windows that a re-extraction has left, including parked ones: an estimate by its position and its windows at the start.",
            "generation",
        )
        self.reextraction_tokens = self._gauge(
            "varve_reextraction_tokens", "Tokens that a re-extraction has used, including the reservations of running calls.", "generation"
        )
        self.reextraction_cost = self._gauge(
            "varve_reextraction_cost", "Money that a re-extraction has spent, including the reservations of running calls.", "generation"
        )
        self.reextraction_yielding = self._gauge(
            "varve_reextraction_yielding", "1 while a re-extraction waits because a live stage has a backlog.", "generation"
        )
        self.reextraction_waiting_tenants = self._gauge(
            "varve_reextraction_waiting_tenants",
            "Tenants whose windows wait for the next day (UTC), because a re-extraction has used its share of their daily budget.",
            "generation",
        )

    def _add_process_metrics(self) -> None:
        """The process, its disk, and the servers that it uses."""
        self.background_failures = self._counter(
            "varve_background_failures", "Failures of background work, which is restarted after each.", "work"
        )
        self.ready = self._gauge("varve_ready", "1 while a readiness condition of the process holds.", "check")
        self.disk_free_bytes = self._gauge("varve_disk_free_bytes", "Free space on the disk of the process's data.")
        self.disk_size_bytes = self._gauge("varve_disk_size_bytes", "Size of the disk of the process's data.")
        self.control_age = self._gauge(
            "varve_control_age_seconds", "Time since the process last confirmed that it has read the whole control log."
        )
        self.control_position = self._gauge("varve_control_position", "Offset up to which the process has read the control log.")
        self.store_points = self._gauge("varve_store_points", "Points in the vector store, all tenants together.", "kind")
        self.store_bytes = self._gauge("varve_store_bytes", "Size of the vector store on disk.", "kind")
        self.redis_used_bytes = self._gauge("varve_redis_used_bytes", "Memory that Redis uses. Only the query service reports it.")
        self.redis_limit_bytes = self._gauge("varve_redis_limit_bytes", "Redis' maxmemory; 0: no limit. Only the query service reports it.")
        self.redis_evicted_keys = self._gauge(
            "varve_redis_evicted_keys", "Keys that Redis has evicted since it started. Only the query service reports it."
        )
        self.redis_refuses_writes = self._gauge(
            "varve_redis_refuses_writes", "1 while Redis refuses writes. Only the query service reports it."
        )

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


def _disk_usage(folder: Path) -> tuple[float, float]:
    """Free space and size of a folder's disk, in bytes. Without the folder both are NaN: the other metrics are still reported."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return math.nan, math.nan
    return usage.free, usage.total
