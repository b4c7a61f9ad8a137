"""Requests to LLMs from operators, and their outcomes."""

from typing import Literal

from pydantic import ConfigDict, Field, JsonValue

from memory.records.base import Record, Value
from memory.records.limits import Time
from memory.records.message import Name


class NotePlace(Value):
    """The place of an event in the log. It decides which of two notes is the later one."""

    source: str
    """The topic and partition of the event's extraction, without the partition of a copy."""
    position: int
    """The extraction's offset there."""
    order: int
    """Of events of one extraction, the greater is the later."""

    def is_before(self, other: "NotePlace") -> bool:
        """Whether this event is the earlier one. Sources have no common order: an event of another source counts as earlier."""
        return self.source != other.source or (self.position, self.order) < (other.position, other.order)


class Lookup(Value):
    """The memories nearest to a text: part of a request. It finds only memories of the request's tenant, user and generation."""

    text: str
    """The text. It is embedded if there is no vector."""
    vector: str | None = None
    """The text's dense vector (:mod:`memory.vectors`)."""
    limit: int = Field(ge=1, le=20)
    """Most memories."""
    kinds: list[str] = Field(default_factory=lambda: ["entity"])
    types: list[str] = Field(default_factory=list)
    """Only memories of these types. Empty: the type of the entity that asks if the kinds include entities, or else any."""
    keys: list[str] = Field(default_factory=list)
    """Only entities with one of these keys, and events that updated them. Empty: any."""
    without: list[str] = Field(default_factory=list)
    """Ids of memories to leave out. The memory of the entity that asks is always left out."""
    before: NotePlace | None = None
    """Only notes of earlier events, and memories that are no notes. None: any."""


class MergeRequest(Record):
    """A request of an entity's operator: a record of ``merges``."""

    tenant: Name
    user: Name | None = None
    entity_type: Name
    entity_key: str = Field(min_length=1)
    property: Name
    part: str = ""
    """The part of the property, if the operator has several."""
    question: dict[str, JsonValue]
    """Everything that the operator needs to call the model and to convert the answer into an outcome, except what the lookups find."""
    lookups: list[Lookup] | None = None
    """Memories that the question needs. None: it needs none."""
    time: Time
    """Event time of the cause."""
    schema_name: str = ""
    schema_revision: int = Field(default=0, ge=0)
    generation: str = ""


class Merged(Value):
    """Outcome of a request. It is self-contained: readers need neither the request nor earlier answers."""

    property: Name
    part: str = ""
    outcome: dict[str, JsonValue]
    """The outcome in the operator's format."""


class TextEdit(Value):
    """An edit of a text by an agent outside Varve, and its result."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    id: str
    tool: str
    """The memory tool: `append`, `replace` or `insert`."""
    by: str
    """Label and id of the API key that was used."""
    time: str
    """Wall-clock time of the request."""
    status: Literal["applied", "conflict", "undone"]
    """`conflict`: it did not fit the text when its turn came, and changed nothing."""
    detail: str = ""
    """The reason of a conflict, or why an undo changed nothing."""
    undoable: bool = False
    """Whether it can be undone: the newest 16 applied edits."""
    undo: str | None = None
    """The id of the newest request to undo it."""
    undone_by: str | None = None
    undone_time: str | None = None


class WrittenText(Value):
    """Origin of a merged text."""

    by: str
    """The model that wrote it; without a model ``rule``, or for a summary ``extract``."""
    pending: int = 0
    """Number of statements that a rule appended to the model's text and that are not merged yet; for a summary, of its unwritten events."""
    stale: bool = False
    """Whether part of its evidence was retracted later."""
    superseded: list[str] = Field(default_factory=list)
    """Statements that the newest merge found superseded, each with its replacement."""
    version: int | None = None
    """The version of the text, if agents can edit it."""
    edits: list[TextEdit] | None = None
    """The newest edits by agents outside Varve, newest first."""
