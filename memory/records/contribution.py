"""What one source record does to one entity."""

from typing import Literal

from pydantic import Field, JsonValue

from memory.records.base import Record, Value
from memory.records.limits import Time
from memory.records.merging import Merged
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
    order: int = 0
    """Of one event time, the greater is the newer."""
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
    forgotten_messages: list[str] | None = None
    """Of an erasure: ids of messages that the entity has from the user."""
    forgotten_memories: list[str] | None = None
    """Of an erasure: as :attr:`memory.records.ErasedEntity.memory_ids`."""
    forgotten_outcomes: list[tuple[str, str]] | None = None
    """Of an erasure: as :attr:`memory.records.ErasedEntity.outcomes`."""
    time: Time
    """Event time of the source."""
    recorded_at: Time | None = None
    """When the source was appended to its log: since then it is known. None: when the contribution was."""
    cause: Literal["extraction", "correction", "expiry", "erasure"] = "extraction"
    """Why the source says so: what a correction takes back was wrong, what an expiry does is let go, what an erasure does is forgotten."""
    schema_name: str = ""
    schema_revision: int = Field(default=0, ge=0)
    """As :class:`~memory.records.Extraction` has it."""
    generation: str = ""
