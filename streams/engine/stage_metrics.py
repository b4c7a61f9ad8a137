"""Metrics of one stage's worker: the stage's name is the first label of each."""

import time
from dataclasses import dataclass

from runtime.metrics import Metrics
from streams.engine.records import ConsumedRecord


@dataclass(frozen=True, slots=True)
class StageMetrics:
    """Metrics with the labels of one stage."""

    stage: str
    metrics: Metrics

    def count_done(self, records: int) -> None:
        """Counts records whose results are committed."""
        self.metrics.records.labels(self.stage, "done").inc(records)

    def count_parked(self) -> None:
        """Counts a record that is committed to the parked records."""
        self.metrics.records.labels(self.stage, "parked").inc()

    def count_dead_letter(self, reason: str) -> None:
        """Counts a committed dead letter."""
        self.metrics.dead_letters.labels(self.stage, reason).inc()

    def count_retry(self) -> None:
        """Counts a retry of a record or batch."""
        self.metrics.retries.labels(self.stage).inc()

    def measure_batch(self, seconds: float) -> None:
        """Measures the time that a batch took."""
        self.metrics.handling_seconds.labels(self.stage).observe(seconds)

    def measure_age(self, record: ConsumedRecord) -> None:
        """Measures the time since the application produced the original record, when the stage has finished it."""
        self.metrics.age_seconds.labels(self.stage).observe(max(0.0, time.time() - record.produced_ms / 1000))

    def show_in_flight(self, records: int) -> None:
        """Shows the number of records in flight."""
        self.metrics.in_flight.labels(self.stage).set(records)

    def show_parked(self, records: int, *, oldest: float) -> None:
        """Shows the number of parked records, and the append time of the oldest in seconds since the epoch; 0: there is none."""
        self.metrics.parked.labels(self.stage).set(records)
        self.metrics.parked_oldest.labels(self.stage).set(oldest)

    def show_watermark_delay(self, partition: int, seconds: float) -> None:
        """Shows the delay of a partition's event time."""
        self.metrics.watermark_delay_seconds.labels(self.stage, partition).set(seconds)

    def remove_watermark_delay(self, partition: int) -> None:
        """Removes that metric: the worker no longer owns the partition."""
        self.metrics.watermark_delay_seconds.remove(self.stage, partition)
