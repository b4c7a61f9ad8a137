"""Corrections of memories by a person or an application: records of the extractions log."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from memory.records.base import Record, Value
from memory.records.contribution import Change
from memory.records.correction_note import EventFields
from memory.records.limits import Time
from memory.records.message import Name

Action = Literal["correct", "invalidate", "revert", "delete", "edit"]
"""``correct``: replace values. ``invalidate``: mark the memory as false. ``revert``: undo the newest correction or invalidation in
force. ``delete``: remove the memory; later corrections and reverts of it have no effect. ``edit``: change a block of an entity with a
memory tool, or undo such an edit; the operator decides whether it fits."""

Reason = Annotated[str, StringConstraints(max_length=1000)]


class EventSeen(Value):
    """An event as the author of a correction saw it.

    A repeated extraction may give the event another id, or give its id to another event.
    """

    window_id: str
    type: Name
    content: str
    message_ids: list[str] = Field(min_length=1)


class EntityCorrection(Value):
    """The changes of an entity's fields."""

    entity_type: Name
    entity_key: str = Field(min_length=1)
    changes: list[Change] = Field(default_factory=list)
    """Empty for a revert."""
    schema_name: str = ""
    schema_revision: int = Field(default=0, ge=0)


class Correction(Record):
    """A correction of one event, or of one entity's fields."""

    id: str
    tenant: Name
    user: Name | None = None
    """The user of the memory. None: the entity is not grouped by user."""
    action: Action
    memory_id: str
    generation: str = ""
    """The generation of the memory."""
    generations: list[str] = Field(default_factory=list)
    """The tenant's other generations: the correction applies to each of them."""
    event: EventSeen | None = None
    fields: EventFields = Field(default_factory=EventFields)
    """The new values of the event."""
    entity: EntityCorrection | None = None
    by: str
    """Label and id of the API key that was used."""
    reason: Reason = ""
    time: Time
    """Wall-clock time of the request."""
    retained_offset: int | None = Field(default=None, ge=0)
    """Only for a correction of an entity that retention retracts: the offset of the original record, which this one replaces."""
