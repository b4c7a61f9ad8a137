"""Base class of the handlers of single kinds of records of ``extractions``."""

from datetime import timedelta

from control.tenants import TenantDirectory
from runtime.metrics import Metrics
from streams.stages.events.publishing import Publisher


class RecordHandler:
    """Handles records of some kinds in one partition of ``extractions``.

    Args:
        partition: Its number.
        publisher: Emits the outputs.
        tenants: The known tenants, with their schemas and generations.
        metrics: Counts the outcomes.
        max_future: Limit of the distance of a record's time after the log's append time.
    """

    def __init__(self, *, partition: int, publisher: Publisher, tenants: TenantDirectory, metrics: Metrics, max_future: timedelta) -> None:
        self._partition = partition
        self._publisher = publisher
        self._tenants = tenants
        self._metrics = metrics
        self._max_future = max_future
