"""Response models of the routes that the console needs most: overview, usage, sessions, checks of schemas, links."""

from datetime import date, datetime
from typing import Any, Final

from pydantic import Field

from api.http.openapi import ResponseModel, Responses, answers
from api.response_models.admin import ApiKeys


class StageView(ResponseModel):
    """A stage's progress. Null: unknown, or not for this key."""

    name: str
    lag: int | None = Field(ge=0)
    """Records of its topic that it has not processed yet. Null for a tenant's key: they are those of all tenants."""
    parked: int | None = Field(ge=0)
    """Records that wait for a budget or a schema; for a tenant's key only its own."""
    parked_by_tenant: dict[str, int]
    """The tenants with the most parked records; for a tenant's key only itself."""
    rate: float | None
    """Records per second since the previous reading. Null: there was none within a minute, or the key is a tenant's."""
    oldest_s: float | None
    """Freshness: the age of the oldest unprocessed record, in seconds. Null: everything is processed."""
    retention_left_s: float | None
    """Seconds until Kafka may delete an unprocessed record; negative if it already may. Null: never, or the key is a tenant's."""
    unfinished: str | None
    """The interrupted command that the stage waits for."""


class StageRates(ResponseModel):
    """The records per second of each stage between two readings."""

    at: datetime
    stages: dict[str, float]


class Overview(ResponseModel):
    """The stages in the order of the pipeline."""

    read_at: datetime
    over_s: float | None
    """The time over which the rates were measured, in seconds."""
    stages: list[StageView]
    rates: list[StageRates]
    """The rates of the latest readings, oldest first: this process reads only when it is asked. Empty for a tenant's key."""
    memories: int | None
    """The tenant's memories, counted at most 30 s ago. Null: not counted yet, or the key is an operator's."""


class UsageRow(ResponseModel):
    """The model calls of a tenant on one day (UTC), by stage, purpose and model."""

    day: date
    tenant: str
    stage: str
    purpose: str
    model: str
    calls: int
    estimated_calls: int
    """Calls whose tokens the endpoint did not count."""
    prompt_tokens: int
    cached_tokens: int
    """Prompt tokens that the provider's cache contained."""
    completion_tokens: int
    cost: float
    """In the currency of the price table; 0 without one."""
    latency_ms: float
    """The sum of the calls' times."""


class BudgetView(ResponseModel):
    """A tenant's budget of extraction and merging for a day (UTC), and its use today. Null: no limit."""

    tenant: str
    soft_tokens: int | None
    hard_tokens: int | None
    soft_cost: float | None
    hard_cost: float | None
    policy: str
    """Above the hard limit, windows `wait` for the next day or are extracted `offline`."""
    reextraction_share: float
    """Share of the smaller limit at which re-extractions stop."""
    used_tokens: float | None
    """Includes what running calls have reserved. Null: Redis is unavailable."""
    used_cost: float | None


class UsageView(ResponseModel):
    """Model calls and budgets."""

    since: datetime
    rows: list[UsageRow]
    """By day, tenant, stage, purpose and model; without tenant and time limit at most 10,000, those with the most tokens."""
    truncated: bool
    """Whether rows are left out."""
    priced: bool
    """Whether there is a price table. False: every cost is 0."""
    budgets: list[BudgetView]
    """The budgets of the tenant, or of the tenants in the rows: at most 200, those with the most tokens."""


class WindowSize(ResponseModel):
    """A window of a session."""

    sequence: int
    """The window's number, from 0."""
    message_count: int


class SessionSummary(ResponseModel):
    """A session with recent messages."""

    session: str
    users: list[str]
    messages: int
    """The messages that can be read: those of both windows."""
    last_message_at: datetime | None
    """The newest event time."""
    closed_window: WindowSize | None
    """The newest closed window."""
    open_window: WindowSize | None


class SessionPage(ResponseModel):
    """Sessions by name, and the start of the next page."""

    sessions: list[SessionSummary]
    next: str | None


class DryWindowView(ResponseModel):
    """A window, and what would be extracted from it; events, segments and patches as in the topic `extractions`."""

    messages: list[dict[str, Any]]
    closed_by: str
    prompt_tokens: int
    """The estimated tokens of the prompt, whether or not a model was called."""
    extractor: str
    """`offline`, or `llm:` and the model's name."""
    segments: list[dict[str, Any]]
    events: list[dict[str, Any]]
    patches: list[dict[str, Any]]
    dropped: list[dict[str, Any]]
    """Dropped items: their kind, the reason and the number; of properties that the application stated, also `names`."""
    usage: list[dict[str, Any]]
    """The calls of a model, with tokens and cost. Empty: none."""


class PreviewView(ResponseModel):
    """A dry run of a session's newest windows. Nothing was stored."""

    session: str
    schema_name: str = Field(alias="schema")
    """The name of the schema that was used."""
    windows: list[DryWindowView]


class SchemaProblem(ResponseModel):
    """An error in a schema."""

    path: str
    """Its place, such as `EventTypes[0].Properties[2]`; empty: the whole document."""
    message: str


class SchemaCheckView(ResponseModel):
    """Whether a schema is valid."""

    valid: bool
    problems: list[SchemaProblem]
    """The first error."""
    name: str | None
    """Its name, with that of the method."""
    event_types: list[str]
    entity_types: list[str]
    prompt_tokens: int | None
    """The estimated tokens of the schema's part of a prompt, which providers cache."""


class GraphNode(ResponseModel):
    """A memory."""

    id: str
    kind: str
    type: str
    user: str | None
    content: str
    depth: int | None
    """For a node of a tree: the number of nodes above it."""


class GraphEdge(ResponseModel):
    """A link between two memories."""

    source: str
    target: str
    relation: str
    """In words. `parent`: the target is the node above in a tree. Empty: only by similarity."""
    score: float


class LinkGraph(ResponseModel):
    """Linked memories."""

    available: bool
    """False: the tenant's memory method makes no links."""
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    truncated: bool
    """Whether only the newest memories were looked at."""


class OriginalMessage(ResponseModel):
    """A message as it was sent, or as it was edited last."""

    id: str
    session: str
    user: str
    role: str
    speaker: str | None
    text: str
    event_time: datetime


class EvidenceView(ResponseModel):
    """The messages that a memory is based on, oldest first."""

    messages: list[OriginalMessage]
    missing: list[str]
    """The ids of messages that were deleted, or were not found within the limits of a request."""


class OwnKeys(ApiKeys):
    """A tenant's keys and its quota."""

    quota: dict[str, Any]
    """The limits in force. Null: no limit."""


OVERVIEW: Final[Responses] = answers(Overview, description="The newest reading.")
USAGE: Final[Responses] = answers(UsageView, description="The usage.")
SESSIONS: Final[Responses] = answers(SessionPage, description="The page.")
PREVIEW: Final[Responses] = answers(PreviewView, description="The dry run.")
CHECKED: Final[Responses] = answers(SchemaCheckView, description="The result, also for an invalid schema.")
LINKS: Final[Responses] = answers(LinkGraph, description="The graph.")
EVIDENCE: Final[Responses] = answers(EvidenceView, description="The messages.")
OWN_KEYS: Final[Responses] = answers(OwnKeys, description="The keys and the quota.")
