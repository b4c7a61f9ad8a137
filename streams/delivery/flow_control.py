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

    def is_stranded(self, partition: int) -> bool:
        """Whether the log does not have what would be fetched of a partition next."""
        ...

    async def go_on(self, partition: int, offset: int) -> None:
        """Fetches from a partition again, from an offset on."""
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

    def is_stranded(self, partition: int) -> bool:
        """See :meth:`FlowControl.is_stranded`."""
        return self._consumer.is_stranded(TP(self._source, partition))

    async def go_on(self, partition: int, offset: int) -> None:
        """See :meth:`FlowControl.go_on`."""
        await self._consumer.go_on(TP(self._source, partition), offset)

    @property
    def _consumer(self) -> Consumer:
        return cast(Consumer, self._app.consumer)
