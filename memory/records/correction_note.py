"""Which fields of an event a correction sets, and what a corrected memory shows of it."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from memory.dates.event_date import DateText
from memory.records.base import Value
from memory.records.limits import ForeignJson, Time
from memory.records.message import Name

Content = Annotated[str, StringConstraints(max_length=4000, pattern=r"\S")]
"""Of an event: it has to say something."""


class EventFields(Value):
    """The fields of an event that a correction sets; None leaves one as it is."""

    content: Content | None = None
    properties: dict[Name, ForeignJson] | None = Field(default=None, max_length=256)
    """By name; a null removes the property, and one that is not named stays."""
    event_time: Time | None = None
    date: DateText | None = None
    """Instead of a moment: how exactly it is known when it was."""
    importance: float | None = Field(default=None, ge=0, le=1)
    keywords: list[Name] | None = Field(default=None, max_length=64)

    def with_later(self, later: "EventFields") -> "EventFields":
        """These fields and later ones, which win, property by property; of a moment and a date the later one stands alone."""
        set_later = {name: getattr(later, name) for name in EventFields.model_fields if getattr(later, name) is not None}
        properties = (
            None if self.properties is None and later.properties is None else {**(self.properties or {}), **(later.properties or {})}
        )
        times = {"event_time", "date"} if {"event_time", "date"} & set_later.keys() else frozenset[str]()
        return self.model_copy(update={**dict.fromkeys(times), **set_later, "properties": properties})


class CorrectionNote(Value):
    """What a memory shows of the corrections that stand."""

    id: str
    """Of the newest one."""
    action: Literal["correct", "invalidate"]
    by: str
    reason: str = ""
    time: Time
    """When it was asked for, by the wall clock."""
    standing: int = Field(ge=1)
    """How many stand: so often can be reverted."""
    before: EventFields = Field(default_factory=EventFields)
    """What the extraction had said, as far as it was another thing; a null property was not there."""
