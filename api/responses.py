"""Response models of the routes, for the OpenAPI document."""

from datetime import datetime
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field, JsonValue, RootModel

from api.openapi import ResponseModel, Responses, Schema, answers

_STATUS: Final[Schema] = {
    "Idempotency-Status": {
        "description": "With an `Idempotency-Key`: whether this answer is kept, was kept, or is not.",
        "schema": {"type": "string", "enum": ["kept", "replayed", "not-kept"]},
    }
}


_LIMITS: Final = {
    "RateLimit-Policy": {"description": "The quotas that the request counts against, where there are any.", "schema": {"type": "string"}},
    "RateLimit": {"description": "What is left of them.", "schema": {"type": "string"}},
}


class Position(ResponseModel):
    """The position of a record in Kafka."""

    topic: str
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)


class Accepted(ResponseModel):
    """A message that is durable."""

    id: str
    position: Position
    repeated: bool = False
    """The id was sent within a day, with equal content: the message is stored once."""
    changed: bool = False
    """The id was sent within a day, with other content: the message was not stored. Edit it with `PUT`."""


class Outcome(ResponseModel):
    """The outcome of one message of a batch: its position, or the problem."""

    index: int = Field(ge=0)
    status: int
    id: str = ""
    position: Position | None = None
    repeated: bool = False
    """See `Accepted`."""
    changed: bool = False
    """See `Accepted`."""
    problem: dict[str, Any] = Field(default_factory=dict)


class Outcomes(ResponseModel):
    """The outcome of each message of a batch, in order."""

    items: list[Outcome]
    repeated: int = 0
    """Number of items with `repeated`."""
    changed: int = 0
    """Number of items with `changed`."""


class AcceptedMessages(RootModel[Accepted | Outcomes]):
    """For one message its position, for a batch the outcome of each message."""


class MessageChanged(ResponseModel):
    """A change of a message that is durable."""

    id: str
    position: Position
    """The position of the change, for a recall's `after`."""
    outcome: Literal["edited", "deleted", "unchanged", "pending"]
    """`pending` (202): the sessions stage has not answered in time; the change is applied when it reaches the position."""


class Flushed(ResponseModel):
    """The position of the command in each partition that it was sent to."""

    positions: list[Position]


class Corrected(ResponseModel):
    """A correction that is durable."""

    id: str
    memory_id: str
    position: Position


class RemainingContent(ResponseModel):
    """Content of an invalidated event that is left elsewhere."""

    what: Literal["event", "summary", "segment", "message"]
    """The kind of a memory, or `message` for a message in the log."""
    id: str
    reason: str


class Invalidated(Corrected):
    """An invalidation that is durable."""

    remaining: list[RemainingContent] | None = None
    """The memories that still have the content of the event. Missing: the store could not be queried."""


class Deleted(Corrected):
    """A deletion that is durable."""

    remaining: list[RemainingContent] | None = None
    """The memories and messages that still have the content of the event. Missing: the store could not be queried, or the request is a
    repetition."""


class MemoryPage(ResponseModel):
    """A page of memories, ordered by id."""

    memories: list["MemoryView"]
    next: str | None
    """Pass it as `after` for the next page. Null: this is the last page."""


class UserErasure(ResponseModel):
    """An erasure of a user that has begun."""

    subject: str
    """The SHA-256 that identifies the user in the receipt."""
    location: str
    """The path at which to poll the receipt; also in the header `Location`."""
    resumable: bool
    """Whether another process continues if this one stops. False: Redis is unavailable; repeat the request after a stop."""


class KeyStatus(ResponseModel):
    """The reach of an API key."""

    tenant: str
    user: str | None
    """The only user that the key may access. Null: all users of the tenant."""
    scopes: list[str]
    schema_ref: str = Field(alias="schema")
    """Name and revision of the schema of the live generation."""
    generation: str
    """The live generation; empty: the first."""


class TailMessage(ResponseModel):
    """A message of a session's newest windows."""

    window_sequence: int
    message: dict[str, Any]


class OpenWindow(ResponseModel):
    """A session's open window."""

    sequence: int
    message_count: int


class Session(ResponseModel):
    """A session's newest messages, oldest first."""

    session: str
    messages: list[TailMessage]
    open_window: OpenWindow | None


class Seen(ResponseModel):
    """Whether the message is there that the request named."""

    id: str
    found_in: Literal["tail", "index"] | None
    """None: it could not be waited for any longer."""
    reached: bool
    """Whether the sessions stage has come to it."""


class Reached(ResponseModel):
    """Whether the store reached the positions of the request."""

    reached: bool
    """Whether the store has reached all of them."""
    written_since: int | None
    """Number of memories in the recall's scope, of all generations, that were added or changed after them; None: the store did not
    report it."""


class RestsOn(ResponseModel):
    """The data that an answer is based on."""

    memories: list[Position]
    """The change feed up to here, at least."""
    session: Position | None
    """The session's messages up to here."""


class WhyNot(ResponseModel):
    """Where a memory or a message stopped."""

    id: str
    what: Literal["memory", "message"] | None
    outcome: str
    memory: str | None
    rank: int | None
    score: float | None
    of: str | None
    filter: str | None


class SiftedSession(ResponseModel):
    """A session that the proxy model ranked."""

    session: str
    user: str | None


class SiftAnswer(ResponseModel):
    """The answer of the proxy model."""

    sessions: list[SiftedSession]
    """Best first."""
    thought: str
    shown: int = Field(ge=0)
    """Sessions that it was shown."""
    left_out: int = Field(ge=0)
    """Sessions that did not fit into its prompt."""


class Candidate(ResponseModel):
    """The outcome of one memory that a recall considered."""

    id: str
    outcome: Literal["returned", "rank", "duplicate", "repeated", "below_threshold"]
    score: float
    rank: int | None
    """Its place among all that were ranked, from 1."""
    of: str | None
    """The memory that stands for it."""
    parts: dict[str, float]
    ranks: dict[str, int]


class MemoryView(ResponseModel):
    """A memory: an event, an entity, a summary or a segment. Fields without a value are left out."""

    id: str
    user: str | None = None
    kind: Literal["event", "entity", "summary", "segment"]
    type: str
    """The event type or entity type of the schema."""
    content: str
    """For an event that a person stated: their own words. For other memories: a description."""
    speaker: str | None = None
    """Only for events: name (or role) of the person whose own words `content` is."""
    properties: dict[str, JsonValue]
    keywords: list[str]
    importance: float = Field(ge=0, le=1)
    event_time: datetime
    """When an event happened; for other kinds, the time of their newest event."""
    date: str | None = None
    """Only for events: when it happened, as exactly as it is known. Missing: exactly at `event_time`."""
    said_at: datetime | None = None
    """Only for events: when it was said. "Yesterday" in `content` is the day before."""
    session: str | None = None
    window_id: str | None = None
    turn: int | None = None
    """Only for events: the index of the first message in its window."""
    entity_key: str | None = None
    """For an entity its key, for a summary the key of its entity."""
    entity_keys: list[str] | None = None
    """Only for events: the keys of the entities that it updated."""
    said: str | None = None
    """Only for events that a model worded: the words of the first message."""
    extractor: str | None = None
    generation: str
    version: int
    """Grows with each change of the memory."""
    expires_at: datetime | None = None
    correction: dict[str, JsonValue] | None = None
    """The corrections in force."""
    written: dict[str, JsonValue] | None = None
    """For merged texts: how each was made."""
    since: dict[str, list[str]] | None = None
    """Only for entities: for each property that patches edit, the date since which each line holds."""
    evidence: list[str]
    """Ids of the messages that the memory was extracted from, best first."""


class EntityView(MemoryView):
    """An entity."""

    degraded: list[str]
    """Sources that could not be asked: `entity_view` (the entity may be older) or `memories`."""


class RecalledMemory(MemoryView):
    """A memory that a recall found."""

    score: float = Field(ge=0, le=1)
    evidence_scores: list[float]
    """The score of each message of the evidence."""
    superseded_by: str | None
    """If its value changed: the memory with the newest value that was found, or the entity that has it."""
    keyword: str | None
    """The keyword that led to it; null if the search found it."""
    parts: dict[str, float] | None = None
    """With `explain`: the parts of the score."""
    ranks: dict[str, int] | None = None
    """With `explain`: the rank among the candidates by each part."""


class Recalled(ResponseModel):
    """The result of a recall."""

    recall_id: str
    results: list[RecalledMemory]
    """Best first."""
    confidence: float | None
    """Probability that the memories answer the query; None if the profile does not estimate it, or memories were late or unavailable."""
    entities: list[MemoryView]
    """The nearest entities of the user of the request."""
    session: Session | None
    sift: SiftAnswer | None = None
    """With ``mode=sift``; None also where its ranking is in ``degraded``, or there was no session to rank."""
    expansion: list[str] | None = None
    """With ``mode=expand``: the sentences that were searched in addition to the query; None also where ``expansion`` is in ``degraded``."""
    why_not: list[WhyNot] = Field(default_factory=list)
    candidates: list[Candidate] = Field(default_factory=list)
    """With ``explain``: all that it looked at, best first."""
    after: Seen | None
    at: Reached | None
    degraded: list[str]
    positions: RestsOn
    ms: float


class FeedbackTaken(ResponseModel):
    """Feedback that is durable."""

    position: Position


class Citation(ResponseModel):
    """The source of a mark in the block: a memory, or a message of the session's tail."""

    mark: str
    id: str
    kind: str
    evidence: list[str]


class Context(ResponseModel):
    """A block of text for a prompt."""

    recall_id: str
    context: str
    tokens: int = Field(ge=0)
    citations: list[Citation]
    left_out: int = Field(ge=0)
    after: Seen | None
    at: Reached | None
    degraded: list[str]
    positions: RestsOn
    ms: float


class Letters(ResponseModel):
    """Dead letters without their content, and how many there are in all."""

    letters: list[dict[str, Any]]
    total: int


class LetterView(ResponseModel):
    """A dead letter with its content."""

    model_config = ConfigDict(extra="allow")

    place: str
    """Its position, `partition/offset`."""
    state: str
    headers: list[list[str | None]]
    """Name and value of each header."""


class Redriven(ResponseModel):
    """How many letters were driven again, how many a newer value has superseded, and which were refused."""

    redriven: int
    superseded: int
    refused: list[str]


class Purged(ResponseModel):
    """How many letters were removed."""

    purged: int


class Alive(ResponseModel):
    """The process serves."""

    status: Literal["ok"]


MESSAGES: Final[Responses] = answers(
    AcceptedMessages,
    description="All were taken: of one message its place, of a batch the items.",
    headers=_STATUS | _LIMITS,
) | answers(Outcomes, status=207, description="Some items were not taken.", headers=_STATUS | _LIMITS)
FLUSHED: Final[Responses] = answers(
    Flushed, description="The windows close once the sessions stage has come so far.", headers=_STATUS | _LIMITS
)
CHANGED_MESSAGE: Final[Responses] = answers(
    MessageChanged,
    description="The message is changed; what was based on the old text follows once the events stage and the index have come so far.",
    headers=_STATUS | _LIMITS,
) | answers(MessageChanged, status=202, description="The change is durable, and not applied yet.", headers=_STATUS | _LIMITS)
CORRECTED: Final[Responses] = answers(
    Corrected,
    description="The correction holds once the events stage has come so far; for recalls once the index has.",
    headers=_STATUS | _LIMITS,
)
RECALLED: Final[Responses] = answers(Recalled, description="The memories found, best first.", headers=_LIMITS)
CONTEXT: Final[Responses] = answers(Context, description="The block; an empty text where nothing was found.", headers=_LIMITS)
FEEDBACK_TAKEN: Final[Responses] = answers(FeedbackTaken, description="The feedback is durable.", headers=_LIMITS)
INVALIDATED: Final[Responses] = answers(
    Invalidated,
    description="The invalidation holds once the events stage has come so far; for recalls once the index has.",
    headers=_STATUS | _LIMITS,
)
DELETED: Final[Responses] = answers(
    Deleted,
    description="The deletion holds once the events stage has come so far; for recalls once the index has.",
    headers=_STATUS | _LIMITS,
)
MEMORY: Final[Responses] = answers(MemoryView, description="The memory.")
MEMORY_PAGE: Final[Responses] = answers(MemoryPage, description="The page.", headers=_LIMITS)
USER_ERASURE: Final[Responses] = answers(
    UserErasure,
    status=202,
    description="The erasure has begun; poll its receipt.",
    headers={"Location": {"description": "Where to poll the receipt.", "schema": {"type": "string"}}} | _LIMITS,
)
KEY_STATUS: Final[Responses] = answers(KeyStatus, description="The reach of the key.")
ENTITY: Final[Responses] = answers(EntityView, description="The entity.")
SESSION: Final[Responses] = answers(Session, description="The messages; none for a session that is unknown or long idle.")
LETTERS: Final[Responses] = answers(Letters, description="The letters, oldest first.")
LETTER: Final[Responses] = answers(LetterView, description="The dead letter.")
REDRIVEN: Final[Responses] = answers(Redriven, headers=_STATUS)
PURGED: Final[Responses] = answers(Purged, headers=_STATUS)
ALIVE: Final[Responses] = answers(Alive, description="The process serves.")
