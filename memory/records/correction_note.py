"""The event fields that a correction can set, and the note that a corrected memory carries."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from memory.dates.event_date import DateText
from memory.records.base import Value
from memory.records.limits import ForeignJson, Time
from memory.records.message import Name

Content = Annotated[str, StringConstraints(max_length=4000, pattern=r"\S")]
"""The text of an event. It must not be blank."""


class EventFields(Value):
    """The event fields that a correction sets. None leaves a field unchanged."""

    content: Content | None = None
    properties: dict[Name, ForeignJson] | None = Field(default=None, max_length=256)
    """By name. A null removes a property; properties that are not named stay."""
    event_time: Time | None = None
    date: DateText | None = None
    """The date and its precision, instead of ``event_time``."""
    importance: float | None = Field(default=None, ge=0, le=1)
    keywords: list[Name] | None = Field(default=None, max_length=64)

    def with_later(self, later: "EventFields") -> "EventFields":
        """Merges with later fields, which win, property by property. A later ``event_time`` or ``date`` replaces both."""
        set_later = {name: getattr(later, name) for name in EventFields.model_fields if getattr(later, name) is not None}
        properties = (
            None if self.properties is None and later.properties is None else {**(self.properties or {}), **(later.properties or {})}
        )
        times = {"event_time", "date"} if {"event_time", "date"} & set_later.keys() else frozenset[str]()
        return self.model_copy(update={**dict.fromkeys(times), **set_later, "properties": properties})


class CorrectionNote(Value):
    """The corrections in force, as a memory shows them."""

    id: str
    """The id of the newest correction in force."""
    action: Literal["correct", "invalidate"]
    by: str
    reason: str = ""
    time: Time
    """Wall-clock time of the request."""
    standing: int = Field(ge=1)
    """Number of corrections in force, and so of possible reverts."""
    before: EventFields = Field(default_factory=EventFields)
    """The extracted values that the corrections replaced. A null property did not exist."""
