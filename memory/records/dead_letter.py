"""The metadata of a dead letter."""

from memory.records.base import Record
from memory.records.limits import Time


class DeadLetterMetadata(Record):
    """A dead letter as operators see it. On the wire, value, key and headers of the source are unchanged; these fields are headers."""

    topic: str
    partition: int
    offset: int
    stage: str
    reason: str
    """A stable word: the ``reason`` of the error."""
    detail: str
    tries: int
    tenant: str | None = None
    first_time: Time
    last_time: Time
