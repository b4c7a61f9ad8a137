"""Changes of memories that follow from a decision about another memory.

They are records of the extractions log, so that a rebuild repeats them, and belong to an event, so that its retraction undoes them.
"""

from pydantic import Field, JsonValue

from memory.records.base import Record, Value
from memory.records.limits import Time
from memory.records.message import Name


class NoteRef(Value):
    """An event with its own entity, in one wording."""

    id: str
    window_id: str
    digest: str
    """Digest of the wording. If the event has another wording by now, the change is void."""


class NoteUpdate(Value):
    """A change of one event's entity that another event causes."""

    owner: NoteRef
    """The event that causes the change: its retraction undoes it."""
    target: NoteRef
    """The event whose entity is changed."""
    change: dict[str, JsonValue]
    """The change, in the operator's format."""


class Evolution(Record):
    """The changes that follow from one answer: a record of the extractions log."""

    tenant: Name
    user: Name
    generation: str = ""
    entity_type: Name
    property: Name
    updates: list[NoteUpdate] = Field(min_length=1)
    time: Time
    """Event time of the cause."""
