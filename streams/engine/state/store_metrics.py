"""Metrics of a partition's local table: its size, and the progress of a running restore."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from runtime.metrics import Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreProgress:
    """Progress of a restore from the changelog."""

    left_rows: int
    done_ratio: float
    """The finished share, in [0, 1]."""
    left_s: float | None
    """Estimated seconds to its end; None before the first rows."""

    @classmethod
    def of(cls, *, begin: int, position: int, end: int, seconds: float) -> "RestoreProgress":
        """Computes the progress.

        Args:
            begin: The offset at which the restore began.
            position: The offset of the next row.
            end: The offset after the last row.
            seconds: Duration so far.
        """
        done, left = position - begin, max(0, end - position)
        share = done / (end - begin) if end > begin else 1.0
        return cls(left_rows=left, done_ratio=share, left_s=seconds / done * left if done else None)


class TableMetrics:
    """Metrics of one partition's table.

    Args:
        metrics: Receives the values.
        stage: The stage's name.
        partition: The partition's number.
        clock: A steady clock, in seconds.
    """

    def __init__(self, *, metrics: Metrics, stage: str, partition: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._metrics = metrics
        self._labels = (stage, str(partition))
        self._clock = clock
        self._began: tuple[int, float] | None = None

    def on_opened(self, size_bytes: Callable[[], int]) -> None:
        """Shows the open table's size: read whenever the metrics are read."""
        self._metrics.table_bytes.labels(*self._labels).set_function(size_bytes)

    def on_restoring(self, position: int, end: int) -> None:
        """Shows the progress of a restore from ``position`` (the next row) to ``end`` (after the last row)."""
        begin, began_at = self._began = self._began or (position, self._clock())
        progress = RestoreProgress.of(begin=begin, position=position, end=end, seconds=self._clock() - began_at)
        self._metrics.restore_left_rows.labels(*self._labels).set(progress.left_rows)
        self._metrics.restore_done_ratio.labels(*self._labels).set(progress.done_ratio)
        if progress.left_s is not None:
            self._metrics.restore_left_seconds.labels(*self._labels).set(progress.left_s)

    def on_restored(self) -> None:
        """Ends the progress: the restore has finished, or has failed and will restart."""
        self._began = None
        for each in (self._metrics.restore_left_rows, self._metrics.restore_done_ratio, self._metrics.restore_left_seconds):
            each.remove(*self._labels)

    def on_closed(self) -> None:
        """Removes the metrics: this worker no longer owns the table."""
        self._metrics.table_bytes.remove(*self._labels)
