"""What a person or an application says of a memory that is wrong. It lies in the log like what was extracted."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from memory.records.base import Record, Value
from memory.records.contribution import Change
from memory.records.correction_note import EventFields
from memory.records.limits import Time
from memory.records.message import Name

Action = Literal["correct", "invalidate", "revert"]
"""``correct``: other values hold. ``invalidate``: it was never so. ``revert``: takes back the newest of both that stands."""

Reason = Annotated[str, StringConstraints(max_length=1000)]


class EventSeen(Value):
    """An event as whoever corrects it saw it: an extraction made again may give it another id, or put another in its place."""

    window_id: str
    type: Name
    content: str
    message_ids: list[str] = Field(min_length=1)


class EntityCorrection(Value):
    """What is set of an entity."""

    entity_type: Name
    entity_key: str = Field(min_length=1)
    changes: list[Change] = Field(default_factory=list)
    """Empty for a revert."""
    schema_name: str = ""
    schema_revision: int = Field(default=0, ge=0)


class Correction(Record):
    """One correction of one memory: of an event, or of an entity's fields."""

    id: str
    tenant: Name
    user: Name | None = None
    """Whose memory it is; None: an entity's that is grouped by something else."""
    action: Action
    memory_id: str
    generation: str = ""
    """The memory's."""
    generations: list[str] = Field(default_factory=list)
    """The tenant's others: what is wrong is wrong in each of them."""
    event: EventSeen | None = None
    fields: EventFields = Field(default_factory=EventFields)
    """What is set of the event."""
    entity: EntityCorrection | None = None
    by: str
    """Whose key it was: its label and its id."""
    reason: Reason = ""
    time: Time
    """When it was asked for, by the wall clock."""
