"""Recalls and expiries of a timeline's events. Both are records of the extractions log, so that a rebuild repeats them."""

from pydantic import Field

from memory.records.base import Record, Value
from memory.records.limits import Time
from memory.records.message import Name


class EventRef(Value):
    """An event, with the window under which the events stage stores it."""

    id: str
    window_id: str


class Touches(Record):
    """Events of one user that recalls returned: a record of the extractions log."""

    tenant: Name
    user: Name
    generation: str = ""
    events: list[EventRef] = Field(min_length=1)
    time: Time
    """Wall-clock time of the newest of those recalls."""


class Expiry(Record):
    """Summarised events of one user that have expired: a record of the extractions log."""

    tenant: Name
    user: Name
    generation: str = ""
    entity_type: Name
    entity_key: str = Field(min_length=1)
    property: Name
    """The timeline that has summarised them."""
    events: list[EventRef] = Field(min_length=1)
    retract: bool = False
    """Whether they are retracted from all entities except this timeline."""
    known: dict[str, int]
    """The position up to which the timeline had read each source. Events extracted after it do not expire."""
    time: Time
    """Event time at which the expiry was found."""
