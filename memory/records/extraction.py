"""What one extraction of a window gives: segments, events, patches, and what it cost."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue

from memory.dates.event_date import DateText
from memory.records.base import Record, Value
from memory.records.limits import Time
from memory.records.message import Name


class Segment(Value):
    """A topic's messages in one window; the ranges need not touch (VikingMem 3.1, intelligent memory segmentation)."""

    id: str
    topic: str
    ranges: list[tuple[int, int]] = Field(min_length=1)
    """Inclusive ``[start, end]`` indices of messages in the window, ascending."""


class Event(Record):
    """A discrete, timestamped, schema-constrained memory (VikingMem 2.2.1)."""

    id: str
    tenant: Name
    user: Name
    session: Name
    window_id: str
    type: Name
    content: str
    properties: dict[str, JsonValue] = Field(default_factory=dict)
    importance: float = Field(default=0.5, ge=0, le=1)
    keywords: list[str] = Field(default_factory=list)
    event_time: Time
    """When it happened, as far as the messages say; else when it was said. Of a date its beginning."""
    date: DateText | None = None
    """How exactly that is known; None: to the moment. Of an unknown date, ``event_time`` is when it was said."""
    said_at: Time
    """The time of the latest message it rests on."""
    segment_id: str | None = None
    message_ids: list[str] = Field(min_length=1)
    """The evidence: the messages it rests on, best first."""
    said: str | None = None
    """Of a model's event: what its first message says, with names and days in it. None: ``content`` says that, the message says nothing by
    itself, or the schema leaves it out."""
    extractor: str
    """``offline``, or ``llm:`` and the model's name."""


@dataclass(frozen=True, slots=True)
class NotedEvent:
    """An event of an earlier window, as far as it takes to tell whether another one repeats it. It travels through no topic."""

    type: str
    content: str
    properties: dict[str, JsonValue]
    event_time: datetime
    date: str | None = None


class EntityPatch(Value):
    """A field-wise SEARCH/REPLACE patch for an entity's text (VikingMem, Algorithm 1). An empty ``search`` appends or creates."""

    id: str
    entity_type: Name
    entity_key: str
    """The ``GROUP BY`` key's parts, as :func:`memory.keys.entity_key` joins them."""
    field: Name
    search: str = ""
    replace: str
    event_time: Time
    message_ids: list[str] = Field(min_length=1)


class Usage(Record):
    """What one model call cost."""

    tenant: Name
    stage: str
    model: str
    purpose: str = "extraction"
    calls: int = 1
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Of the prompt tokens, those that the provider's prefix cache held."""
    completion_tokens: int = 0
    cost: float = 0.0
    """In the currency of the price table."""
    latency_ms: float = 0.0
    estimated: bool = False
    """The endpoint gave no count, or the call was broken off: the tokens are an estimate."""
    time: Time
    subject: str | None = None
    """What it was for: a window's or an entity's id."""


class Dropped(Value):
    """Something that an extraction left out, and why."""

    what: Literal["event", "segment", "patch", "property", "message"]
    reason: str
    count: int = 1


class Extraction(Record):
    """All that one extraction of one window lays down."""

    window_id: str
    tenant: Name
    user: Name
    session: Name
    sequence: int = Field(ge=0)
    generation: str = ""
    """Empty for the live one; a name for a re-extraction that grows beside it."""
    drops: int = Field(default=0, ge=0)
    """How often that generation had been dropped when the window was begun."""
    extractor: str
    schema_name: str
    """The schema it was made under."""
    schema_revision: int = Field(default=0, ge=0)
    """Its revision in the control log; 0: none is named, and the one in force for the tenant is taken."""
    message_ids: list[str]
    """Of all the window's messages, in order."""
    segments: list[Segment] = Field(default_factory=list)
    events: list[Event] = Field(default_factory=list)
    patches: list[EntityPatch] = Field(default_factory=list)
    dropped: list[Dropped] = Field(default_factory=list)
    usage: list[Usage] = Field(default_factory=list)
    window_end: Time
    """The latest event time among the window's messages."""


class GenerationDrop(Record):
    """A generation was dropped: in its partition, what was begun before counts no more."""

    tenant: Name
    generation: str
    """Empty for the first."""
    drops: int = Field(ge=1)
    """How often it has been dropped by now. An extraction that bears less was begun before."""
