"""What a timeline's events live through: they are recalled, and let go. Both lie in the extractions log, so that a rebuild knows."""

from pydantic import Field

from memory.records.base import Record, Value
from memory.records.limits import Time
from memory.records.message import Name


class EventRef(Value):
    """An event, and where the events stage finds it."""

    id: str
    window_id: str


class Touches(Record):
    """Events of one user that recalls returned: a record of the extractions log."""

    tenant: Name
    user: Name
    """Whose events."""
    generation: str = ""
    events: list[EventRef] = Field(min_length=1)
    time: Time
    """When the newest of those recalls was, by the wall clock."""


class Expiry(Record):
    """Summarised events of one user whose time to live is over: a record of the extractions log."""

    tenant: Name
    user: Name
    """Whose events."""
    generation: str = ""
    entity_type: Name
    entity_key: str = Field(min_length=1)
    property: Name
    """The timeline that has summarised them."""
    events: list[EventRef] = Field(min_length=1)
    retract: bool = False
    """Whether they are taken back from all entities but this timeline."""
    known: dict[str, int]
    """By source, up to where the timeline had read it: what was extracted behind that is not meant."""
    time: Time
    """Event time at which it was found."""
