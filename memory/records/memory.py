"""A memory, and its change in the public change feed."""

import datetime
from typing import Literal

from pydantic import Field, JsonValue

from memory.dates.event_date import DateText
from memory.records.base import Record, Value
from memory.records.contribution import HistoryEntry
from memory.records.correction_note import CorrectionNote
from memory.records.limits import Time
from memory.records.merging import WrittenText
from memory.records.message import Name
from memory.records.trust import TrustLevel


class Link(Value):
    """A link from one memory to another of the same tenant and user."""

    id: str
    """The other memory."""
    relation: str = ""
    """How they are related, in words. Empty: only by similarity."""
    score: float = Field(default=1.0, ge=0, le=1)
    """Strength of the link."""


class Memory(Record):
    """One memory as it is stored, searched and returned."""

    id: str
    tenant: Name
    user: Name | None = None
    kind: Literal["event", "entity", "summary", "segment"]
    type: Name
    content: str
    """The text to show. It is also embedded and searched, unless there is a ``speaker`` with a ``search_text``."""
    speaker: str | None = None
    """Only for events: name (or role) of the person whose own words ``content`` is. None: it was worded by a model, by rule, or by a
    correction."""
    properties: dict[str, JsonValue] = Field(default_factory=dict)
    keywords: list[str] = Field(default_factory=list)
    importance: float = Field(default=0.5, ge=0, le=1)
    event_time: Time
    date: DateText | None = None
    """Only for events and notes: the precision of ``event_time``. None: exact."""
    said_at: Time | None = None
    """Only for events: the time of the newest message of the evidence."""
    session: str | None = None
    window_id: str | None = None
    turn: int | None = Field(default=None, ge=0)
    """Only for events: the index of the first message in its window. Events of neighbouring turns explain each other."""
    entity_key: str | None = None
    """The key of an entity, or of the entity that a summary belongs to."""
    entity_keys: list[str] | None = None
    """Only for events: the keys of the entities that it updated. None: it updated none."""
    message_ids: list[str] = Field(default_factory=list)
    """The evidence, best first."""
    said: str | None = None
    """Only for events that a model worded: the words of the first message. None after a correction."""
    search_text: str | None = None
    """Only for events, only for search: the message with names and days resolved. If ``speaker`` is set it is searched instead of
    ``content``, otherwise in addition. None after a correction."""
    extractor: str | None = None
    """The extractor; for an entity all extractors of its text, joined by ``, ``."""
    trust: TrustLevel | None = None
    """The lowest trust in the sources of the memory. None: ``normal``. No recall finds a ``distrusted`` memory."""
    unsupported: int | None = None
    """For an event 1 if its window does not have its words (:attr:`memory.records.Event.unsupported`). For an entity the number of changes
    by such events. None: there are none."""
    generation: str = ""
    version: int = 0
    """Grows with every change in the log. For a summary: twice the number of its events, plus one once a model has written it; it falls if
    an event is retracted."""
    expires_at: Time | None = None
    """No recall finds it from this time on. For an invalidated or distrusted memory: the time since which it is."""
    correction: CorrectionNote | None = None
    """The corrections in force."""
    written: dict[str, WrittenText] | None = None
    """For an entity, by property: how a merged text was made. For a summary, by timeline: a model was asked for it and has not answered
    yet."""
    links: list[Link] | None = None
    """Links to other memories, strongest first. A recall can follow them."""
    parent: str | None = None
    """Only for nodes of a tree: the id of the parent node. None: the root, or no node."""
    depth: int | None = Field(default=None, ge=0)
    """Only for nodes of a tree: the number of nodes above it."""
    since: dict[str, list[datetime.date]] | None = None
    """Only for entities, by property that patches edit: the date, in the zone of its message, since which each
    non-blank line holds, in order."""


class MemoryChange(Record):
    """A record of ``memories``, the public change feed. A tombstone is a record with the same key and no value, as in Kafka."""

    op: Literal["upsert", "tombstone", "step"]
    """``step``: an entry of an entity's history, not a memory."""
    memory_id: str
    """For a step, the id of the step."""
    tenant: Name
    memory: Memory | None = None
    step: HistoryEntry | None = None
