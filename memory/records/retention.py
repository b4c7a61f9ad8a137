"""The record that removes results beyond a tenant's retention."""

from pydantic import Field

from memory.records.base import Record
from memory.records.limits import Time
from memory.records.message import Name


class RetentionLimits(Record):
    """Limits of a tenant's retention: a record of each partition of the extractions log.

    Extractions that follow it in the partition publish nothing that was said before the limit of its type, so neither a replay nor a new
    generation brings it back. Limits never decrease: see :func:`memory.retention.merged_limits`.
    """

    tenant: Name
    limits: dict[Name, Time] = Field(min_length=1)
    """By type: what was said before this time is removed. ``*``: every other type."""
    held: list[str] | None = None
    """Digests of users with a legal hold: their data is not removed."""
    time: Time
    """Time at which the limits were computed."""
