"""Which partitions of its source a worker fetches from."""

from typing import Protocol, cast

import faust
from faust.types import TP

from streams.delivery.consumer import Consumer


class FlowControl(Protocol):
    """Pauses and resumes partitions of a worker's source."""

    def pause(self, partition: int) -> None:
        """Fetches no more of a partition; what has been fetched of it may still be delivered."""
        ...

    def resume(self, partition: int) -> None:
        """Fetches from a partition again."""
        ...


class SourceFlowControl:
    """Pauses partitions in Faust's consumer: the others go on.

    Args:
        app: The worker's app.
        source: The source topic.
    """

    def __init__(self, *, app: faust.App, source: str) -> None:
        self._app = app
        self._source = source

    def pause(self, partition: int) -> None:
        """See :meth:`FlowControl.pause`."""
        self._consumer.pause_partition(TP(self._source, partition))

    def resume(self, partition: int) -> None:
        """See :meth:`FlowControl.resume`."""
        self._consumer.resume_partition(TP(self._source, partition))

    @property
    def _consumer(self) -> Consumer:
        return cast(Consumer, self._app.consumer)
