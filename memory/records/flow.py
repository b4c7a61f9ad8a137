"""What flows behind an extraction: contributions to entities, changes of memories, recalls."""

from typing import Literal

from pydantic import Field, JsonValue

from memory.records.base import Record, Value
from memory.records.correction_note import CorrectionNote
from memory.records.limits import Time
from memory.records.merging import Merged, WrittenText
from memory.records.message import Name


class Change(Value):
    """One change that a contribution makes to one property of an entity."""

    op: Literal["apply", "retract", "touch", "release"]
    """``touch``: it was recalled; ``release``: it is no memory of its own any more, and what was summarised of it remains."""
    property: Name
    source_id: str
    """The event or patch it comes from: a retraction names what it takes back."""
    value: JsonValue = None
    """What the operator is fed: a number for SUM, the patch's search and replace for PATCH, ..."""
    event_time: Time
    message_ids: list[str] = Field(default_factory=list)
    extractor: str = ""
    """Who extracted the event or patch."""


class Contribution(Record):
    """All that one source record does to one entity: applied whole, once, in the order of its source partition.

    One of kind ``merged`` brings the answer to a :class:`~memory.records.MergeRequest`. It says itself what it rests on, so its position
    counts for nothing.
    """

    tenant: Name
    user: Name | None = None
    """The user whose window it comes from."""
    entity_type: Name
    entity_key: str = Field(min_length=1)
    """The ``GROUP BY`` key's parts, encoded as :func:`memory.keys.encode_key` does."""
    kind: Literal["change", "tick", "merged"] = "change"
    """``tick``: event time has come to ``time``; its position counts for nothing, either."""
    source: str
    """The source's topic and partition (``extractions/3``): positions of different sources never meet."""
    position: int = Field(ge=0)
    """The source record's offset. An entity applies a position of a source once."""
    changes: list[Change] = Field(default_factory=list)
    merged: Merged | None = None
    """Of kind ``merged``."""
    time: Time
    """Event time of the source."""
    schema_name: str = ""
    schema_revision: int = Field(default=0, ge=0)
    """As :class:`~memory.records.Extraction` has it."""
    generation: str = ""


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
    session: str | None = None
    window_id: str | None = None
    turn: int | None = Field(default=None, ge=0)
    """Of an event: the place of its first message in its window, from 0. Events of neighbouring turns explain each other."""
    entity_key: str | None = None
    message_ids: list[str] = Field(default_factory=list)
    """The evidence, best first."""
    extractor: str | None = None
    """Who extracted it; of an entity all whose words it bears, joined by ``, ``."""
    generation: str = ""
    version: int = 0
    """Grows with every change that the log brings to this memory. Of a summary, how many events it stands for."""
    expires_at: Time | None = None
    """From this moment on no recall finds it: of what was invalidated, when that was."""
    correction: CorrectionNote | None = None
    """What stands of the corrections by hand."""
    written: dict[str, WrittenText] | None = None
    """Of an entity, by property: how a text that was merged came about."""


class MemoryChange(Record):
    """A record of ``memories``, the public change feed. A tombstone is a record without a value (Kafka's own form), keyed alike."""

    op: Literal["upsert", "tombstone"]
    memory_id: str
    tenant: Name
    memory: Memory | None = None


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
