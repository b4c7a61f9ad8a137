"""What flows behind the entities: changes of memories, recalls, dead letters."""

import datetime
from typing import Literal

from pydantic import Field, JsonValue

from memory.dates.event_date import DateText
from memory.records.base import Record, Value
from memory.records.correction_note import CorrectionNote
from memory.records.history import Step
from memory.records.limits import Time
from memory.records.merging import WrittenText
from memory.records.message import Name
from memory.records.ranking import Ranking


class Memory(Record):
    """One memory as it is stored, searched and returned."""

    id: str
    tenant: Name
    user: Name | None = None
    kind: Literal["event", "entity", "summary", "segment"]
    type: Name
    content: str
    """The text that is embedded and searched."""
    properties: dict[str, JsonValue] = Field(default_factory=dict)
    keywords: list[str] = Field(default_factory=list)
    importance: float = Field(default=0.5, ge=0, le=1)
    event_time: Time
    date: DateText | None = None
    """Of an event: how exactly it is known when it was; None: to the moment."""
    session: str | None = None
    window_id: str | None = None
    turn: int | None = Field(default=None, ge=0)
    """Of an event: the place of its first message in its window, from 0. Events of neighbouring turns explain each other."""
    entity_key: str | None = None
    """Of an entity its key, of a summary that of its entity."""
    entity_keys: list[str] | None = None
    """Of an event: the keys of the entities that it has fed; None: of none."""
    message_ids: list[str] = Field(default_factory=list)
    """The evidence, best first."""
    said: str | None = None
    """Of an event that a model worded: what its first message says. The event is found by that, too. None where it was corrected."""
    extractor: str | None = None
    """Who extracted it; of an entity all whose words it bears, joined by ``, ``."""
    generation: str = ""
    version: int = 0
    """Grows with every change that the log brings to this memory. Of a summary: twice the events it stands for, and one more
    once a model was done with them; so it falls where an event is taken back."""
    expires_at: Time | None = None
    """From this moment on no recall finds it: of what was invalidated, when that was."""
    correction: CorrectionNote | None = None
    """What stands of the corrections by hand."""
    written: dict[str, WrittenText] | None = None
    """Of an entity, by property: how a text that was merged came about. Of a summary, by the timeline: that a model was asked for it, and
    has yet to answer."""
    since: dict[str, list[datetime.date]] | None = None
    """Of an entity, by property that patches edit: since when each of its lines holds (UTC), those that are not blank, in their order."""


class MemoryChange(Record):
    """A record of ``memories``, the public change feed. A tombstone is a record without a value (Kafka's own form), keyed alike."""

    op: Literal["upsert", "tombstone", "step"]
    """``step``: no memory, but what one has come by."""
    memory_id: str
    """Of a step its id."""
    tenant: Name
    memory: Memory | None = None
    step: Step | None = None


class RecalledEvent(Value):
    """An event that a recall returned, and that a timeline would let go one day."""

    id: str
    user: Name
    window_id: str


class RecallRecord(Record):
    """Which memories a recall returned, and what came of it."""

    id: str
    tenant: Name
    user: Name | None = None
    generation: str = ""
    """Of the memories."""
    memory_ids: list[str]
    events: list[RecalledEvent] = Field(default_factory=list)
    """Those of the events that timelines hold: the recall lets them live on."""
    content_hashes: list[str] = Field(default_factory=list)
    """SHA-256 of the contents returned, so that their echo in the conversation is recognised."""
    ranking: Ranking | None = None
    """How the candidates were ranked; of the recalls that `VARVE_RECALL__TRAINING_SHARE` picks, and only where there were any."""
    time: Time


class DeadLetter(Record):
    """A dead letter as operators see it. On the wire the source's value, key and headers stay untouched; the rest travels in headers."""

    topic: str
    partition: int
    offset: int
    stage: str
    reason: str
    """A stable word, as the errors' ``reason``."""
    detail: str
    tries: int
    tenant: str | None = None
    first_time: Time
    last_time: Time
