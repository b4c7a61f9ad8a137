"""What a partition's local table shows in the metrics: its size, and how far its restore has come while one runs."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from runtime.metrics import Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreProgress:
    """How far a restore from the changelog has come."""

    left_rows: int
    done_ratio: float
    """The share that is done, in [0, 1]."""
    left_s: float | None
    """Seconds until its end at the pace so far; None before the first rows."""

    @classmethod
    def of(cls, *, begin: int, position: int, end: int, seconds: float) -> "RestoreProgress":
        """How far it has come.

        Args:
            begin: The offset of the changelog that it began at.
            position: The offset of the next row.
            end: The offset behind the last one.
            seconds: How long it has been running.
        """
        done, left = position - begin, max(0, end - position)
        share = done / (end - begin) if end > begin else 1.0
        return cls(left_rows=left, done_ratio=share, left_s=seconds / done * left if done else None)


class TableMetrics:
    """The metrics of one partition's table.

    Args:
        metrics: Where they are shown.
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
        """The table is open: from now on its size is asked for whenever the metrics are."""
        self._metrics.table_bytes.labels(*self._labels).set_function(size_bytes)

    def on_restoring(self, position: int, end: int) -> None:
        """A restore goes on.

        Args:
            position: The offset of the next row.
            end: The offset behind the last one.
        """
        begin, began_at = self._began = self._began or (position, self._clock())
        progress = RestoreProgress.of(begin=begin, position=position, end=end, seconds=self._clock() - began_at)
        self._metrics.restore_left_rows.labels(*self._labels).set(progress.left_rows)
        self._metrics.restore_done_ratio.labels(*self._labels).set(progress.done_ratio)
        if progress.left_s is not None:
            self._metrics.restore_left_seconds.labels(*self._labels).set(progress.left_s)

    def on_restored(self) -> None:
        """No restore runs, or it has failed and will begin anew."""
        self._began = None
        for each in (self._metrics.restore_left_rows, self._metrics.restore_done_ratio, self._metrics.restore_left_seconds):
            each.remove(*self._labels)

    def on_closed(self) -> None:
        """The table is another worker's, or nobody's."""
        self._metrics.table_bytes.remove(*self._labels)
