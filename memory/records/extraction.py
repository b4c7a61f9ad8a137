"""The result of extracting one window: segments, events, patches, and the cost."""

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


class SourceSet(Value):
    """Sources that some messages of a window have."""

    names: list[str]
    """As :data:`memory.sources.SourceName`, sorted."""
    messages: list[int]
    """Indices of the messages in the window, ascending."""


class Event(Record):
    """A discrete, timestamped, schema-constrained memory (VikingMem 2.2.1)."""

    id: str
    tenant: Name
    user: Name
    session: Name
    window_id: str
    type: Name
    content: str
    """The words of the message, unchanged except for length. For a tool call or a model's event: a description."""
    speaker: str | None = None
    """Name (or role) of the person whose own words ``content`` is. None: it was worded by a model or by rule."""
    properties: dict[str, JsonValue] = Field(default_factory=dict)
    importance: float = Field(default=0.5, ge=0, le=1)
    keywords: list[str] = Field(default_factory=list)
    event_time: Time
    """When it happened, if the messages say so (for a date, its start); otherwise when it was said."""
    date: DateText | None = None
    """The precision of ``event_time``. None: exact. For ``unknown``, ``event_time`` is when it was said."""
    said_at: Time
    """The time of the newest message of the evidence."""
    segment_id: str | None = None
    message_ids: list[str] = Field(min_length=1)
    """The evidence: the messages that state the event, best first."""
    also_from: list[str] | None = None
    """Further messages of the window, with a named origin, whose words it has and the evidence lacks. They lower its trust."""
    said: str | None = None
    """Only for a model's event: the words of its first message. None: the message is not understandable alone, or the schema omits it."""
    search_text: str | None = None
    """Only for search, never shown: the message with names for "I", resolved days, and the question before a short answer. If ``speaker``
    is set it is searched instead of ``content``, otherwise in addition."""
    extractor: str
    """``offline``, or ``llm:`` and the model's name."""
    vector: str | None = None
    """The text's dense vector (:mod:`memory.vectors`). None: no operator of the schema needs it."""
    unsupported: bool | None = None
    """True: a model worded it, and a name or most of its words are nowhere in the window. It may be an invention."""


@dataclass(frozen=True, slots=True)
class NotedEvent:
    """The parts of an earlier event that decide whether a new event repeats it. It is never sent to a topic."""

    type: str
    content: str
    """For a quoted message, its search text, which names the speaker and the day."""
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
    also_from: list[str] | None = None
    """See :attr:`Event.also_from`."""


class Usage(Record):
    """Tokens, time and cost of one model call."""

    tenant: Name
    stage: str
    model: str
    purpose: str = "extraction"
    calls: int = 1
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens that the provider's prefix cache contained."""
    completion_tokens: int = 0
    cost: float = 0.0
    """In the currency of the price table."""
    latency_ms: float = 0.0
    estimated: bool = False
    """The tokens are an estimate: the endpoint returned no count, or the call was interrupted."""
    time: Time
    subject: str | None = None
    """The id of the window or entity that the call was made for."""
    generation: str = ""
    """The generation that a re-extraction builds. Empty: the call belongs to no re-extraction."""


class Dropped(Value):
    """Items that an extraction dropped, and the reason."""

    what: Literal["event", "segment", "patch", "property", "message"]
    reason: str
    count: int = 1
    names: list[str] | None = None
    """Of properties that the application stated: up to five of them, as ``TYPE.PROPERTY``."""


class Extraction(Record):
    """Everything that one extraction of one window produced."""

    window_id: str
    tenant: Name
    user: Name
    session: Name
    sequence: int = Field(ge=0)
    revision: int = Field(default=0, ge=0)
    """The revision of the window. An extraction of an earlier revision never replaces one of a later revision."""
    generation: str = ""
    """Empty for the live generation; otherwise the name of a generation that is being built."""
    drops: int = Field(default=0, ge=0)
    """How often the generation had been dropped when the extraction of the window began."""
    extractor: str
    schema_name: str
    """The schema that was used."""
    schema_revision: int = Field(default=0, ge=0)
    """Its revision in the control log. 0: no revision is named, so the tenant's current schema applies."""
    message_ids: list[str]
    """Ids of all messages of the window, in order."""
    sources: list[SourceSet] | None = None
    """The sources of the messages that events and patches are based on. None: there are none."""
    segments: list[Segment] = Field(default_factory=list)
    events: list[Event] = Field(default_factory=list)
    patches: list[EntityPatch] = Field(default_factory=list)
    dropped: list[Dropped] = Field(default_factory=list)
    usage: list[Usage] = Field(default_factory=list)
    window_end: Time
    """The newest event time of the window's messages."""
    retained: dict[str, Time] | None = None
    """Only for an extraction that retention has rewritten without old results: the limits by type. It replaces the original record."""

    def with_sources_in_use(self) -> "Extraction":
        """The extraction without sources of messages that no event or patch is based on: they may name a person."""
        if self.sources is None:
            return self
        used = {name for each in self.events for name in (*each.message_ids, *(each.also_from or ()))}
        used |= {name for each in self.patches for name in (*each.message_ids, *(each.also_from or ()))}
        sets = [
            SourceSet(names=source.names, messages=messages)
            for source in self.sources
            if (messages := [index for index in source.messages if index < len(self.message_ids) and self.message_ids[index] in used])
        ]
        return self.model_copy(update={"sources": sets or None})


class GenerationDrop(Record):
    """A generation was dropped: extractions of this partition that began earlier no longer count."""

    tenant: Name
    generation: str
    """Empty for the first generation."""
    drops: int = Field(ge=1)
    """How often it has been dropped, including this time. An extraction with a lower number began earlier."""
