"""Deliveries to webhooks."""

from typing import Literal

from pydantic import Field

from memory.records.base import Record
from memory.records.limits import Time
from memory.records.message import Name


class WebhookDelivery(Record):
    """A change of a memory that a webhook has to receive. It only names the change: the content is read from the feed when it is sent.

    The newest record of a delivery counts; a tombstone ends it.
    """

    id: str
    """Identifies the delivery to the receiver, also when it is repeated."""
    tenant: Name
    webhook: str
    event: Literal["memory.upserted", "memory.deleted"]
    memory_id: str
    partition: int = Field(ge=0)
    """The partition of the change in ``memories``."""
    offset: int = Field(ge=0)
    """The offset of the change in ``memories``."""
    changed_at: Time
    """When the change was written."""
    state: Literal["pending", "dead"] = "pending"
    """``dead``: all attempts failed; it waits for a redrive."""
    attempts: int = Field(default=0, ge=0)
    """Failed attempts since it was created or redriven."""
    due_at: Time | None = None
    """The next attempt begins at this time or later. Default: at once."""
    problem: str = ""
    """The last failure."""
    dead_at: Time | None = None
    redriven: int = Field(default=0, ge=0)
    """Number of redrives."""
