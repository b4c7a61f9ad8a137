"""Contributions: the changes that one source record makes to one entity."""

from typing import Literal

from pydantic import Field, JsonValue

from memory.records.base import Record, Value
from memory.records.limits import Time
from memory.records.merging import Merged
from memory.records.message import Name
from memory.records.trust import TrustLevel


class Change(Value):
    """One change that a contribution makes to one property of an entity."""

    op: Literal["apply", "retract", "touch", "release"]
    """``touch``: the event was recalled. ``release``: the event is no longer a separate memory; its summary remains."""
    property: Name
    source_id: str
    """The event or patch that causes the change. A retraction names the one that it retracts."""
    value: JsonValue = None
    """The operator's input: a number for SUM, the patch's search and replace for PATCH, ..."""
    event_time: Time
    order: int = 0
    """Tie-breaker for equal event times: the greater is newer."""
    message_ids: list[str] = Field(default_factory=list)
    extractor: str = ""
    """The extractor of the event or patch."""
    trust: TrustLevel | None = None
    """The trust in the event or patch. None: ``normal``."""
    unsupported: bool | None = None
    """Whether the event is (:attr:`memory.records.Event.unsupported`)."""
    is_update: bool | None = None
    """True: a change of the entity that another event causes (:class:`~memory.records.Evolution`). It does not count as evidence of the
    entity: an entity with updates only has no memory."""


class Contribution(Record):
    """All changes that one source record makes to one entity. An entity applies them together, once, in the order of the source partition.

    A contribution of kind ``merged`` carries the answer to a :class:`~memory.records.MergeRequest`. It names the positions that it covers,
    so its own position is ignored.
    """

    tenant: Name
    user: Name | None = None
    """The user of the source window."""
    entity_type: Name
    entity_key: str = Field(min_length=1)
    """The ``GROUP BY`` key's parts, encoded as :func:`memory.keys.encode_key` does."""
    kind: Literal["change", "tick", "merged"] = "change"
    """``tick``: event time has reached ``time``; its position is ignored as well."""
    source: str
    """The source's topic and partition (``extractions/3``). Positions are compared within one source only."""
    position: int = Field(ge=0)
    """The source record's offset. An entity applies a position of a source once."""
    changes: list[Change] = Field(default_factory=list)
    merged: Merged | None = None
    """Set for the kind ``merged``."""
    forgotten_messages: list[str] | None = None
    """For an erasure: ids of the user's messages that the entity is based on. For retention: those of the removed results."""
    forgotten_memories: list[str] | None = None
    """For an erasure: see :attr:`memory.records.ErasedEntity.memory_ids`."""
    forgotten_outcomes: list[tuple[str, str]] | None = None
    """For an erasure: see :attr:`memory.records.ErasedEntity.outcomes`."""
    time: Time
    """Event time of the source."""
    recorded_at: Time | None = None
    """Time at which the source was appended to its log, and so became known. Default: the time of the contribution's own append."""
    cause: Literal["extraction", "correction", "expiry", "evolution", "erasure", "retention", "drop"] = "extraction"
    """Reason for the changes. A correction retracts what was wrong, an expiry what is too old, an erasure what must be forgotten, retention
    what the tenant keeps no longer, a drop all of a generation. An evolution changes entities because of another event."""
    schema_name: str = ""
    schema_revision: int = Field(default=0, ge=0)
    """See :class:`~memory.records.Extraction`."""
    generation: str = ""


class HistoryEntry(Record):
    """One step of an entity's history: an applied contribution. Applying all steps in order gives the entity."""

    id: str
    """The id of its slot. A later step of the same source reuses the slot once the limit of steps is reached."""
    tenant: Name
    entity: str
    """The entity's id."""
    number: int = Field(ge=0)
    """Number of steps of the same source up to this one. 0: an answer of a model; only the newest is kept."""
    contribution: Contribution
    """Always with ``recorded_at``."""
    before: str | None = None
    """At regular intervals, the entity before this step: later steps are replayed from here when earlier ones are no longer kept."""
