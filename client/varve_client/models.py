"""Responses of the service. Unknown fields are kept (``model_extra``), so that an older client works with a newer service."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Response(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)

    def as_dict(self) -> dict[str, Any]:
        """The fields that the service sent, as plain JSON values."""
        return self.model_dump(mode="json", exclude_unset=True)


class Position(_Response):
    """The place of a record in Kafka."""

    topic: str
    partition: int
    offset: int


class SentMessage(_Response):
    """A message that is durable. Pass it as ``after`` to a recall that must see it."""

    id: str
    position: Position
    repeated: bool = False
    """The id was sent within a day, with the same content: the message is stored once."""
    changed: bool = False
    """The id was sent within a day, with another text, speaker or other field: this was not stored. ``edit_message`` changes the text."""

    @property
    def reference(self) -> dict[str, Any]:
        """The value of a recall's ``after``."""
        return {"id": self.id, "position": self.position.as_dict()}


class ChangedMessage(_Response):
    """A change of a message that is durable. Pass it as ``after`` to a recall that must see it."""

    id: str
    position: Position
    outcome: str
    """``edited``, ``deleted``, ``unchanged``, or ``pending``: then it is applied when the service reaches the position."""

    @property
    def reference(self) -> dict[str, Any]:
        """The value of a recall's ``after``."""
        return {"id": self.id, "position": self.position.as_dict()}


class Memory(_Response):
    """A memory: an event, an entity, a summary or a segment."""

    id: str
    kind: Literal["event", "entity", "summary", "segment"]
    type: str
    content: str
    """For an event that a person stated: their own words."""
    event_time: datetime
    evidence: list[str] = Field(default_factory=list)
    """Ids of the messages that it was extracted from, best first."""
    user: str | None = None
    session: str | None = None
    speaker: str | None = None
    """Only for events: name (or role) of the person whose own words ``content`` is."""
    said_at: datetime | None = None
    """Only for events: when it was said."""
    date: str | None = None
    """When an event happened, as exactly as it is known: ``2024-05-08``, ``2024-05``, ``2024``, ``A/B`` or ``unknown``. None: exactly at
    ``event_time``."""
    properties: dict[str, Any] = Field(default_factory=dict)
    keywords: list[str] = Field(default_factory=list)
    importance: float = 0.5
    entity_key: str | None = None
    since: dict[str, list[str]] | None = None
    """Only for entities: for each property, the date since which each line of its text holds."""
    unsupported: int | None = None
    """For an event 1 if a model wrote it in words that its messages do not have. For an entity the number of changes by such events."""
    version: int = 0


class RecalledMemory(Memory):
    """A memory that a recall found."""

    score: float
    evidence_scores: list[float] = Field(default_factory=list)
    superseded_by: str | None = None
    """The memory with the newer value, if the value changed."""
    repeated_by: str | None = None
    """The entity among `entities` that has the same words, if there is one: a text needs one of the two."""
    keyword: str | None = None


class SessionTail(_Response):
    """The newest messages of a session."""

    session: str = ""
    messages: list[dict[str, Any]] = Field(default_factory=list)


class OpenWindow(_Response):
    """The open window of a session: its messages are not extracted yet."""

    sequence: int
    message_count: int


class Session(SessionTail):
    """The newest messages of a session, oldest first."""

    open_window: OpenWindow | None = None


class RecallResult(_Response):
    """The answer to a recall."""

    results: list[RecalledMemory]
    """Best first."""
    entities: list[Memory] = Field(default_factory=list)
    """The nearest entities of the user that the request names."""
    confidence: float | None = None
    """Probability that the results answer the query. None: the service is not calibrated for its embedding model, or has no estimate."""
    session: Session | None = None
    """With the option ``session``: its newest messages."""
    degraded: list[str] = Field(default_factory=list)
    """Parts that are missing from this answer, because they failed or were too slow."""
    recall_id: str = ""
    """Identifies this recall in feedback."""
    positions: dict[str, Any] | None = None
    """The log positions that the answer is based on. Pass it as ``at`` to read the same state again."""


class Citation(_Response):
    """The memory or message that a mark in a context refers to."""

    mark: str
    id: str
    kind: str
    evidence: list[str] = Field(default_factory=list)


class Context(_Response):
    """A block of text for a prompt."""

    context: str
    tokens: int = 0
    citations: list[Citation] = Field(default_factory=list)
    degraded: list[str] = Field(default_factory=list)
    recall_id: str = ""


class Correction(_Response):
    """A correction that is durable, and takes effect when the stages have processed it; or one that would change nothing."""

    id: str | None = None
    """None: nothing was recorded."""
    memory_id: str
    outcome: str = "accepted"
    """``accepted``, or ``unchanged``: the memory has these values already, or an equal correction is on its way; nothing was recorded."""
    position: Position | None = None
    """None: nothing was recorded."""
    remaining: list[dict[str, Any]] = Field(default_factory=list)
    """For an invalidation, or a replaced content: what still has the content of the event, each with ``what``, ``id`` and ``reason``."""


class BlockEdit(_Response):
    """An edit of a block by an agent, and its result."""

    id: str
    tool: str
    by: str
    """Label and id of the API key that was used."""
    time: datetime
    status: str
    """``applied``, ``conflict`` or ``undone``."""
    detail: str = ""
    undoable: bool = False


class Block(_Response):
    """A block of text that agents edit with memory tools."""

    entity_type: str
    property: str
    user: str
    text: str
    version: int
    characters: int
    max_characters: int
    edits: list[BlockEdit] = Field(default_factory=list)
    """The newest edits, newest first."""


class EditedBlock(_Response):
    """An edit that is durable."""

    id: str
    """The id of the edit, or of the request to undo one."""
    status: str
    """``applied``, ``undone``, or ``pending``: the service applies it later, and the block's ``edits`` have its result."""
    position: Position
    block: Block | None = None


class FoundEvent(_Response):
    """A found event."""

    id: str
    day: str
    says: str
    score: float
    evidence: list[str] = Field(default_factory=list)


class FoundEvents(_Response):
    """A page of found events, nearest first."""

    page: int
    results: list[FoundEvent]
    more: bool
    """Whether there is a next page."""


class MemoryPage(_Response):
    """A page of memories, ordered by id."""

    memories: list[Memory]
    next: str | None
    """Pass it as ``after`` for the next page. None: this is the last page."""


class BegunErasure(_Response):
    """An erasure of a user that has begun."""

    subject: str
    """Identifies the erasure: pass it to ``erasure``."""
    location: str
    resumable: bool
    """Whether another process of the service continues if the one that carries it out stops."""


class Erasure(_Response):
    """An erasure of a user, and its receipt once ``finished_at`` is set."""

    subject: str
    reason: str = ""
    requested_at: datetime
    finished_at: datetime | None = None
    """When the verified receipt was written. None: it is not finished."""
    gone_by: datetime | None = None
    found: dict[str, int] = Field(default_factory=dict)
    """Number of erased items by kind."""
    remains: list[str] = Field(default_factory=list)
    """Descriptions of what could not be erased."""
    running: bool = False
    problem: str | None = None


class KeyStatus(_Response):
    """The reach of the API key."""

    tenant: str
    user: str | None = None
    """The only user that the key may access. None: all users of the tenant."""
    scopes: list[str] = Field(default_factory=list)


class HistoryChange(_Response):
    """One change of one property of an entity."""

    property: str
    op: Literal["apply", "retract"]
    value: Any
    event_time: str
    evidence: list[str] = Field(default_factory=list)
    fate: str | None = None
    by: str | None = None


class HistoryEntry(_Response):
    """One step in the history of an entity."""

    id: str
    kind: str
    recorded_at: str
    changes: list[HistoryChange]
    before: dict[str, Any]
    after: dict[str, Any]


class HistoryPage(_Response):
    """A page of an entity's history, oldest entry first."""

    type: str
    key: str
    steps: list[HistoryEntry]
    next: str | None
    """Pass it as ``after`` for the next page. None: this is the last page."""
    total: int
    complete: bool
    """False if older entries are no longer kept."""
