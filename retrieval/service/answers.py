"""What the routes answer, as the OpenAPI document describes it."""

from typing import Any, Final, Literal

from pydantic import BaseModel, Field

from memory.records import Memory
from retrieval.service.openapi import Responses, Schema, answers, schema_of

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


class Position(BaseModel):
    """Where a record lies in Kafka."""

    topic: str
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)


class Accepted(BaseModel):
    """A message that is durable."""

    id: str
    position: Position


class Outcome(BaseModel):
    """What became of one message of a batch: its position, or the problem."""

    index: int = Field(ge=0)
    status: int
    id: str = ""
    position: Position | None = None
    problem: dict[str, Any] = Field(default_factory=dict)


class Outcomes(BaseModel):
    """What became of each message of a batch, in order."""

    items: list[Outcome]


class Flushed(BaseModel):
    """Where the command lies in each partition that it went to."""

    positions: list[Position]


class Corrected(BaseModel):
    """A correction that is durable."""

    id: str
    memory_id: str
    position: Position


class TailMessage(BaseModel):
    """A message of a session's newest windows."""

    window_sequence: int
    message: dict[str, Any]


class OpenWindow(BaseModel):
    """A session's open window."""

    sequence: int
    message_count: int


class Session(BaseModel):
    """A session's newest messages, oldest first."""

    session: str
    messages: list[TailMessage]
    open_window: OpenWindow | None


class Seen(BaseModel):
    """Whether the message is there that the request named."""

    id: str
    found_in: Literal["tail", "index"] | None
    """None: it could not be waited for any longer."""
    reached: bool
    """Whether the sessions stage has come to it."""


class Reached(BaseModel):
    """What became of the positions that the request was asked at."""

    reached: bool
    """Whether the store has come to all of them."""
    written_since: int | None
    """How many memories of the recall's scope were written behind them, new and changed ones, of all generations; None: the store did not
    tell."""


class RestsOn(BaseModel):
    """What an answer rests on."""

    memories: list[Position]
    """The change feed up to here, at least."""
    session: Position | None
    """The session's messages up to here."""


class WhyNot(BaseModel):
    """Where a memory or a message stopped."""

    id: str
    what: Literal["memory", "message"] | None
    outcome: str
    memory: str | None
    rank: int | None
    score: float | None
    of: str | None
    filter: str | None


class SiftedSession(BaseModel):
    """A session that the proxy model ranked."""

    session: str
    user: str | None


class SiftAnswer(BaseModel):
    """What the proxy model answered."""

    sessions: list[SiftedSession]
    """Best first."""
    thought: str
    shown: int = Field(ge=0)
    """Sessions that it was shown."""
    left_out: int = Field(ge=0)
    """Sessions that did not fit into its prompt."""


class Candidate(BaseModel):
    """What became of one memory that a recall looked at."""

    id: str
    outcome: Literal["returned", "rank", "duplicate", "repeated", "below_threshold"]
    score: float
    rank: int | None
    """Its place among all that were ranked, from 1."""
    of: str | None
    """The memory that stands for it."""
    parts: dict[str, float]
    ranks: dict[str, int]


class Recalled(BaseModel):
    """What a recall found."""

    recall_id: str
    results: list[dict[str, Any]]
    confidence: float | None
    """How likely it is that the memories answer the query; None where the profile does not tell, or the memories were late or away."""
    entities: list[dict[str, Any]]
    session: Session | None
    sift: SiftAnswer | None = None
    """With ``mode=sift``; None also where its ranking is in ``degraded``, or there was no session to rank."""
    expansion: list[str] | None = None
    """With ``mode=expand``: the sentences that were searched beside the query; None also where ``expansion`` is in ``degraded``."""
    why_not: list[WhyNot] = Field(default_factory=list)
    candidates: list[Candidate] = Field(default_factory=list)
    """With ``explain``: all that it looked at, best first."""
    after: Seen | None
    at: Reached | None
    degraded: list[str]
    positions: RestsOn
    ms: float


class FeedbackTaken(BaseModel):
    """Feedback that is durable."""

    position: Position


class Citation(BaseModel):
    """What a mark of the block stands for: a memory, or a message of the session's tail."""

    mark: str
    id: str
    kind: str
    evidence: list[str]


class Context(BaseModel):
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


class Letters(BaseModel):
    """Dead letters without their content, and how many there are in all."""

    letters: list[dict[str, Any]]
    total: int


class Redriven(BaseModel):
    """How many letters were driven again, how many a newer value has superseded, and which were refused."""

    redriven: int
    superseded: int
    refused: list[str]


class Purged(BaseModel):
    """How many letters were removed."""

    purged: int


class Alive(BaseModel):
    """The process serves."""

    status: Literal["ok"]


def _memory(**further: Schema) -> Schema:
    schema = schema_of(Memory, without=("schema_version", "tenant", "message_ids"))
    evidence = {"type": "array", "items": {"type": "string"}, "description": "The ids of the messages it rests on, best first."}
    return {
        **schema,
        "properties": {**schema["properties"], "evidence": evidence, **further},
        "required": [*schema["required"], "evidence", *further],
    }


def _recalled() -> Schema:
    schema = schema_of(Recalled)
    score = {"type": "number", "minimum": 0, "maximum": 1}
    scores = {"type": "array", "items": score, "description": "Of each message of the evidence."}
    superseded_by = {
        "anyOf": [{"type": "string"}, {"type": "null"}],
        "description": "If this one's value has changed: the memory with the newest value that was found, or the entity that tells it.",
    }
    keyword: Schema = {
        "anyOf": [{"type": "string"}, {"type": "null"}],
        "description": "Which keyword led to it, where the keyword graph did, which ranks by itself; null: the search found it.",
    }
    schema["properties"]["results"]["items"] = _memory(score=score, evidence_scores=scores, superseded_by=superseded_by, keyword=keyword)
    schema["properties"]["entities"]["items"] = _memory()
    return schema


MESSAGES: Final[Responses] = answers(
    {"anyOf": [schema_of(Accepted), schema_of(Outcomes)]},
    description="All were taken: of one message its place, of a batch the items.",
    headers=_STATUS | _LIMITS,
) | answers(schema_of(Outcomes), status=207, description="Some items were not taken.", headers=_STATUS | _LIMITS)
FLUSHED: Final[Responses] = answers(
    schema_of(Flushed), description="The windows close once the sessions stage has come so far.", headers=_STATUS | _LIMITS
)
CORRECTED: Final[Responses] = answers(
    schema_of(Corrected),
    description="The correction holds once the events stage has come so far; for recalls once the index has.",
    headers=_STATUS | _LIMITS,
)
RECALLED: Final[Responses] = answers(_recalled(), description="The memories found, best first.", headers=_LIMITS)
CONTEXT: Final[Responses] = answers(schema_of(Context), description="The block; an empty text where nothing was found.", headers=_LIMITS)
FEEDBACK_TAKEN: Final[Responses] = answers(schema_of(FeedbackTaken), description="The feedback is durable.", headers=_LIMITS)
MEMORY: Final[Responses] = answers(_memory(), description="The memory.")
ENTITY: Final[Responses] = answers(
    _memory(
        degraded={
            "type": "array",
            "items": {"type": "string"},
            "description": "What could not be asked: `entity_view` (the entity may be older) or `memories`.",
        }
    ),
    description="The entity.",
)
SESSION: Final[Responses] = answers(schema_of(Session), description="The messages; none for a session that is unknown or long idle.")
LETTERS: Final[Responses] = answers(schema_of(Letters), description="The letters, oldest first.")
LETTER: Final[Responses] = answers({"type": "object", "required": ["place", "state", "headers"]}, description="The letter.")
REDRIVEN: Final[Responses] = answers(schema_of(Redriven), headers=_STATUS)
PURGED: Final[Responses] = answers(schema_of(Purged), headers=_STATUS)
ALIVE: Final[Responses] = answers(schema_of(Alive), description="The process serves.")
