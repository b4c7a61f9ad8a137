"""Response models of the routes that read memories, entities, sessions and recalls, for the OpenAPI document."""

from datetime import datetime
from typing import Any, Final, Literal

from pydantic import Field, JsonValue

from api.http.openapi import ResponseModel, Responses, answers
from api.response_models.messages import LIMITS, Position
from memory.records.trust import TrustLevel


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
    """Whether the message that the request named can be read."""

    id: str
    found_in: Literal["tail", "index"] | None
    """None: not found before the deadline."""
    reached: bool
    """Whether the sessions stage has processed it."""


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
    """The change feed at least up to these positions."""
    session: Position | None
    """The session's messages up to this position."""


class UsedBy(ResponseModel):
    """A returned entity or summary that is based on a message."""

    memory: str
    kind: Literal["entity", "summary"]
    type: str
    property: str | None
    """The field whose value the message states; null if no field has its words, for example a count."""


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
    used_by: list[UsedBy] = Field(default_factory=list)
    """The returned entities and summaries that use the message."""


class SiftedSession(ResponseModel):
    """A session that the proxy model ranked."""

    session: str
    user: str | None


class SiftUsage(ResponseModel):
    """The use of the proxy model."""

    prompt_tokens: int = Field(ge=0)
    cached_tokens: int = Field(ge=0)
    """Tokens of the prompt that the endpoint had in its cache."""
    completion_tokens: int = Field(ge=0)
    """Tokens of the answer, with the reasoning."""
    estimated: bool
    """Whether the endpoint did not count the tokens."""
    ms: float = Field(ge=0)
    """Duration of the call."""
    cost: float = Field(ge=0)
    """In the currency of the price table; 0 without one."""


class SiftAnswer(ResponseModel):
    """The answer of the proxy model."""

    sessions: list[SiftedSession]
    """Best first."""
    history: list[Literal["turns", "events"]]
    """The content of the sessions in its prompt. Both: a part of them has no archived messages, and events are shown instead."""
    thought: str
    """Its reasoning; empty without."""
    shown: int = Field(ge=0)
    """Number of sessions in its prompt."""
    left_out: int = Field(ge=0)
    """Number of sessions that did not fit into its prompt."""
    completed: int = Field(ge=0)
    """Number of sessions at the end of `sessions` that the recall added, because the model ranked too few."""
    usage: SiftUsage


class Candidate(ResponseModel):
    """The outcome of one memory that a recall considered."""

    id: str
    outcome: Literal["returned", "rank", "duplicate", "repeated", "below_threshold"]
    score: float
    rank: int | None
    """Its rank among all candidates, from 1."""
    of: str | None
    """The memory that represents it."""
    parts: dict[str, float]
    ranks: dict[str, int]


class RecallStep(ResponseModel):
    """A step of a recall. Steps of different retrievers run concurrently."""

    name: str
    """`rewrite`, `retrieve`, `score`, `rank`, `deduplicate`, `cut`, or a further retriever: `entities`, `session_tail`, `keywords`,
    `links`, `tree`, `recent`."""
    began_ms: float
    """When it began, in milliseconds since the recall began to run."""
    ms: float
    given: int | None
    """Candidates before it. Null: it has none."""
    found: int | None
    """Candidates after it. Null: unknown, or it has none."""


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
    trust: TrustLevel | None = None
    """The lowest trust in its sources. Missing: `normal`."""
    unsupported: int | None = None
    """For an event 1 if a model wrote it in words that its messages do not have. For an entity the number of changes by such events.
    Missing: none."""
    generation: str
    version: int
    """Grows with each change of the memory."""
    expires_at: datetime | None = None
    correction: dict[str, JsonValue] | None = None
    """The corrections in force."""
    written: dict[str, JsonValue] | None = None
    """For merged texts: how each was made."""
    links: list[dict[str, JsonValue]] | None = None
    """Links to other memories, strongest first, each with `id`, `relation` and `score`."""
    parent: str | None = None
    """Only for nodes of a tree: the id of the parent node."""
    depth: int | None = None
    """Only for nodes of a tree: the number of nodes above it."""
    since: dict[str, list[str]] | None = None
    """Only for entities: for each property that patches edit, the date since which each line holds."""
    evidence: list[str]
    """Ids of the messages that the memory was extracted from, best first."""


class MemoryPage(ResponseModel):
    """A page of memories, ordered by id."""

    memories: list[MemoryView]
    next: str | None
    """Pass it as `after` for the next page. Null: this is the last page."""


class EntityView(MemoryView):
    """An entity."""

    degraded: list[str]
    """Sources that were unavailable: `entity_view` (the entity may be older) or `memories`."""


class RecalledMemory(MemoryView):
    """A memory that a recall found."""

    score: float = Field(ge=0, le=1)
    evidence_scores: list[float]
    """The score of each message of the evidence."""
    superseded_by: str | None
    """If its value changed: the memory with the newest value that was found, or the entity that has it."""
    repeated_by: str | None
    """The entity in `entities` that has the event's words; null if none has."""
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
    """With ``mode=sift``; also None if its ranking is in ``degraded``, or there was no session to rank."""
    expansion: list[str] | None = None
    """With ``mode=expand``: the sentences that were searched in addition to the query; also None if ``expansion`` is in ``degraded``."""
    why_not: list[WhyNot] = Field(default_factory=list)
    candidates: list[Candidate] = Field(default_factory=list)
    """With ``explain``: all candidates, best first."""
    steps: list[RecallStep] = Field(default_factory=list)
    """With ``explain``: the steps, in the order in which they ended."""
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
    sift: SiftAnswer | None = None
    """The same as in a recall's response."""
    expansion: list[str] | None = None
    """The same as in a recall's response."""
    after: Seen | None
    at: Reached | None
    degraded: list[str]
    positions: RestsOn
    ms: float


RECALLED: Final[Responses] = answers(Recalled, description="The memories found, best first.", headers=LIMITS)
CONTEXT: Final[Responses] = answers(Context, description="The block; empty if nothing was found.", headers=LIMITS)
FEEDBACK_TAKEN: Final[Responses] = answers(FeedbackTaken, description="The feedback is durable.", headers=LIMITS)
MEMORY: Final[Responses] = answers(MemoryView, description="The memory.")
MEMORY_PAGE: Final[Responses] = answers(MemoryPage, description="The page.", headers=LIMITS)
ENTITY: Final[Responses] = answers(EntityView, description="The entity.")
SESSION: Final[Responses] = answers(Session, description="The messages; empty for a session that is unknown or long idle.")
