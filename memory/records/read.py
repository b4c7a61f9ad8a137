"""The record of a read of memories, for the read audit."""

from typing import Literal

from pydantic import Field

from memory.records.base import Record
from memory.records.limits import Time
from memory.records.message import Name

ReadKind = Literal["recall", "context", "list", "memory", "entity", "history", "evidence", "links", "blocks", "block_search"]
"""The request that returned the memories."""


class ReadRecord(Record):
    """Memories of one user that a request returned: who read them, and when, without their texts."""

    tenant: Name
    user: Name
    """The user whose memories were read."""
    key_id: str
    """The id of the API key, or the subject of an identity provider's token."""
    what: ReadKind
    memory_ids: list[str] = Field(min_length=1)
    """At most 1000."""
    left_out: int = Field(default=0, ge=0)
    """Number of further memories."""
    time: Time
