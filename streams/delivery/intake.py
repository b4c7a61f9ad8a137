"""From which partitions a worker takes records in."""

from typing import Protocol, cast

import faust
from faust.types import TP

from streams.delivery.consumer import Consumer


class Intake(Protocol):
    """Switches the partitions of a worker's source."""

    def pause(self, partition: int) -> None:
        """Takes nothing more in from a partition; what has been fetched of it may still come."""
        ...

    def resume(self, partition: int) -> None:
        """Takes in from it again."""
        ...


class SourceIntake:
    """Switches what Faust fetches: the other partitions go on.

    Args:
        app: The worker's app.
        source: The source topic.
    """

    def __init__(self, *, app: faust.App, source: str) -> None:
        self._app = app
        self._source = source

    def pause(self, partition: int) -> None:
        """Takes nothing more in from a partition; what has been fetched of it may still come."""
        self._consumer.pause_partition(TP(self._source, partition))

    def resume(self, partition: int) -> None:
        """Takes in from it again."""
        self._consumer.resume_partition(TP(self._source, partition))

    @property
    def _consumer(self) -> Consumer:
        return cast(Consumer, self._app.consumer)
