"""Measures the age of the oldest unprocessed record of each partition, and warns before the log deletes it."""

import time
from collections.abc import Mapping
from typing import Any, Final

from memory.errors import VarveError
from runtime.interruption import pause
from runtime.kafka import Backlog, KafkaOffsets, read_backlogs
from runtime.logs import logger
from runtime.metrics import Metrics
from streams.engine.tasks.driver import Driver

_log = logger(__name__)
_INTERVAL_S: Final = 10.0


class BacklogWatch:
    """Backlog of each partition of one worker, read from the log every few seconds.

    It reads the log and not the driver, so it also covers a partition that is still restoring or paused.

    Args:
        stage: The stage's name.
        group: Its consumer group.
        source: Its source topic.
        driver: Knows the assigned partitions and their oldest pending records.
        offsets: Reads the log.
        metrics: Receives the ages.
        alarm_s: Warns when a partition's oldest record may be deleted in fewer seconds.
    """

    def __init__(
        self,
        *,
        stage: str,
        group: str,
        source: str,
        driver: Driver,
        offsets: KafkaOffsets,
        metrics: Metrics,
        alarm_s: float,
    ) -> None:
        self._stage = stage
        self._group = group
        self._source = source
        self._driver = driver
        self._offsets = offsets
        self._metrics = metrics
        self._alarm_s = alarm_s
        self._backlogs: Mapping[int, Backlog] = {}
        self._near: Mapping[int, float] = {}

    async def run(self) -> None:
        """Measures until it is cancelled."""
        while True:
            try:
                await self.measure()
            except VarveError as error:
                # Keep the last backlogs, and let them age: without the broker no work gets done either.
                self._show(revoked=set())
                _log.warning("backlog_unknown", stage=self._stage, error=str(error))
            await pause(_INTERVAL_S)

    async def measure(self) -> None:
        """Reads the backlogs once, shows them, and warns of partitions whose oldest record is about to be deleted.

        Raises:
            KafkaUnavailableError: If no broker answers.
            TopicMissingError: If the source topic was deleted.
        """
        read = await read_backlogs(self._group, self._source, self._offsets)
        before, self._backlogs = (
            self._backlogs,
            {source.partition: backlog for source, backlog in read.items() if source.partition in self._driver.next_offsets},
        )
        self._show(revoked=before.keys() - self._backlogs.keys())
        now_ms = self._now_ms()
        lefts = {partition: backlog.left_s(now_ms) for partition, backlog in self._backlogs.items()}
        near = {partition: left_s for partition, left_s in lefts.items() if left_s is not None and left_s < self._alarm_s}
        for partition in near.keys() - self._near.keys():
            offset = self._backlogs[partition].oldest.offset
            _log.error("retention_near", stage=self._stage, partition=partition, next_offset=offset, left_s=round(near[partition]))
        self._near = near

    @property
    def problem(self) -> str | None:
        """Partitions whose log is about to delete unprocessed records, for people to read. None: there are none."""
        shown = [
            f"{self._source}/{partition} may lose what {self._stage} has to read next " + (f"in {left_s:.0f} s" if left_s > 0 else "now")
            for partition, left_s in sorted(self._near.items())
        ]
        return "; ".join(shown) or None

    def report(self) -> dict[str, Any]:
        """Backlog and oldest pending record of each partition, as plain JSON."""
        return {"stage": self._stage, "partitions": {str(each): self._partition(each) for each in sorted(self._driver.next_offsets)}}

    def _partition(self, partition: int) -> dict[str, Any]:
        driver, backlog, now_ms = self._driver, self._backlogs.get(partition), self._now_ms()
        loss, oldest = driver.data_losses.get(partition), driver.oldest_pending.get(partition)
        return {
            "next_offset": driver.next_offsets.get(partition),
            "log_gap": None if loss is None else str(loss),
            "oldest_s": None if backlog is None else backlog.age_s(now_ms),
            "retention_left_s": None if backlog is None else backlog.left_s(now_ms),
            "held_by": None
            if oldest is None
            else {"offset": oldest.offset, "tenant": oldest.tenant, "state": oldest.state, "attempts": oldest.attempts},
        }

    def _show(self, *, revoked: set[int]) -> None:
        now_ms, metrics = self._now_ms(), self._metrics
        for partition in revoked:
            metrics.oldest_seconds.remove(self._stage, self._source, partition)
            metrics.retention_left_seconds.remove(self._stage, self._source, partition)
        for partition, backlog in self._backlogs.items():
            labels = (self._stage, self._source, partition)
            metrics.oldest_seconds.labels(*labels).set(backlog.age_s(now_ms))
            left_s = backlog.left_s(now_ms)
            if left_s is not None:
                metrics.retention_left_seconds.labels(*labels).set(left_s)

    def _now_ms(self) -> int:
        return round(time.time() * 1000)
