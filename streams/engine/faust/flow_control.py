"""Flow control: pauses and resumes the partitions of a worker's source."""

from collections import defaultdict
from enum import Enum, auto
from typing import Final, cast

import faust
from faust.types import TP

from streams.engine.faust.consumer import Consumer

FREE_TO_RESUME: Final = 0.25
"""Free part of the limits at which a full partition is fetched from again."""


class PauseReason(Enum):
    """Reason why a partition is paused. It may have several, and is fetched from again when none is left."""

    FULL = auto()
    """It holds the maximum number of records."""
    NOT_RESTORED = auto()
    """Its state and its next offset are not restored yet."""
    PARKING = auto()
    """More of its records are being parked than a few transactions hold."""
    DATA_LOSS = auto()
    """Its log has lost records."""


class FlowControl:
    """Pauses and resumes partitions of a worker's source in Faust's consumer.

    All partitions share one input, which never waits: a partition that cannot accept more records is paused.

    Args:
        app: The worker's app.
        source: The source topic.
    """

    def __init__(self, *, app: faust.App, source: str) -> None:
        self._app = app
        self._source = source
        self._reasons: defaultdict[int, set[PauseReason]] = defaultdict(set)

    def pause(self, partition: int, reason: PauseReason) -> None:
        """Stops fetching from a partition; records fetched already may still be delivered."""
        self._reasons[partition].add(reason)
        self._consumer.pause_partition(TP(self._source, partition))

    def resume(self, partition: int, reason: PauseReason) -> None:
        """Removes one reason; fetches from the partition again if it was the last."""
        if reason in self._reasons[partition]:
            self._reasons[partition].discard(reason)
            self._resume_if_free(partition)

    def release(self, partition: int) -> None:
        """Removes all reasons, at the end of an assignment."""
        if self._reasons.pop(partition, None):
            self._resume_if_free(partition)

    def is_stranded(self, partition: int) -> bool:
        """Whether the log does not contain the partition's next fetch position."""
        return self._consumer.is_stranded(TP(self._source, partition))

    def fetch_position(self, partition: int, next_offset: int | None) -> int | None:
        """Start of a partition's next fetch, if it is after the given next offset and no record is in between."""
        return self._consumer.position_after(TP(self._source, partition), next_offset)

    async def resume_at(self, partition: int, offset: int) -> None:
        """Fetches from an offset on, and removes the reason ``DATA_LOSS``."""
        await self._consumer.seek_on(TP(self._source, partition), offset)
        self._reasons[partition].discard(PauseReason.DATA_LOSS)
        self._resume_if_free(partition)

    def _resume_if_free(self, partition: int) -> None:
        if not self._reasons[partition]:
            self._consumer.resume_partition(TP(self._source, partition))

    @property
    def _consumer(self) -> Consumer:
        return cast(Consumer, self._app.consumer)
