"""Response models of the operators' routes, for the OpenAPI document."""

from datetime import datetime
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from api.openapi import ResponseModel, Responses, answers
from control.documents import Role, Scope

_DONE: Final = "It is in force, and this process knows it."


class Changed(ResponseModel):
    """A change's place in the control log."""

    position: int = Field(ge=0)
    """Processes that have read the control log up to this position apply the change."""
    changed: bool
    """False: nothing had to change."""
    settled: bool
    """Whether every process applies it, even one without a connection to Kafka."""


class TenantView(ResponseModel):
    """A tenant."""

    id: str
    schema_ref: str = Field(alias="schema")
    state: Literal["active", "suspended"]
    weight: float
    budget: dict[str, Any]
    quota: dict[str, Any]
    signing: dict[str, Any]
    messages: dict[str, Any]
    """Its time zone, and the markup that is removed from its messages; empty: neither."""
    retention: dict[str, str]
    """How long results of each type, and raw messages, are kept; empty: for ever."""
    keys: int
    method: str
    """The memory method of the live generation."""
    generation: str
    generations: list[dict[str, str]]
    drops: list[dict[str, Any]] = Field(default_factory=list)


class TenantViews(ResponseModel):
    """Tenants by id, and the start of the next page."""

    tenants: list[TenantView]
    next: str | None


class KeyMade(Changed):
    """A new key. It is shown only once."""

    id: str
    key: str


class ErasureBegun(Changed):
    """An erasure that is being carried out."""

    subject: str
    """The SHA-256 digest of the user."""
    resumable: bool
    """Whether another process continues if this one stops. False: Redis is unavailable; after a stop, repeat the request."""


class ErasureView(ResponseModel):
    """An erasure, and its receipt once it is finished."""

    tenant: str
    subject: str
    """The SHA-256 digest of the user."""
    reason: str
    requested_at: datetime
    finished_at: datetime | None
    """Null: it is in progress, or waits for a process to continue it."""
    gone_by: datetime | None
    """When Kafka will have removed the last of its bytes."""
    found: dict[str, int]
    remains: list[str]
    running: bool
    """Whether a process works on it, or was killed less than half a minute ago. While Redis is unavailable: whether this process does."""
    problem: str | None
    """The error that stopped this process's last attempt."""


class ErasureViews(ResponseModel):
    """Erasures of one tenant's users, or of all tenants'."""

    erasures: list[ErasureView]


class HoldView(ResponseModel):
    """A legal hold, in force or released."""

    tenant: str
    subject: str
    """The SHA-256 digest of the user; `-`: every user of the tenant."""
    reason: str
    placed_at: datetime
    placed_by: str
    released_at: datetime | None
    """Null: it is in force."""
    released_by: str | None
    release_reason: str


class HoldViews(ResponseModel):
    """Legal holds of one tenant, or of all tenants."""

    holds: list[HoldView]


class HoldChanged(Changed):
    """A legal hold that was placed or released."""

    subject: str
    """The SHA-256 digest of the user; `-`: every user of the tenant."""


class SchemaWritten(Changed):
    """The revision with the sent content."""

    schema_ref: str = Field(alias="schema")


class GenerationView(ResponseModel):
    """A generation of a tenant's memories; the first one's name is empty."""

    name: str
    schema_ref: str = Field(alias="schema")
    method: str
    """Its memory method."""
    live: bool


class Generations(ResponseModel):
    """A tenant's generations."""

    generations: list[GenerationView]


class Switched(Changed):
    """A generation that is live."""

    windows_left: int
    """Windows of all tenants that its workers have not extracted yet: closed and parked ones."""


class Dropped(Changed):
    """A generation that is being retracted."""

    drops: int
    """Number of drops, including this one."""
    retracted: int
    """Number of retracted windows."""


class _KeyView(ResponseModel):
    id: str
    label: str
    created: datetime
    expires: datetime | None
    last_used: datetime | None
    """To the minute; null: not in the last 400 days, or unknown."""


class ApiKeyView(_KeyView):
    """A key to a tenant's memory, without its hash."""

    scopes: list[Scope]
    user: str | None


class ApiKeys(ResponseModel):
    """A tenant's keys."""

    keys: list[ApiKeyView]
    uses_known: bool
    """Whether the times of last use are known: Redis stores them."""


class WebhookSecretView(ResponseModel):
    """A signing secret, without its value."""

    id: str
    until: datetime | None
    """When it expires; null: never."""


class WebhookView(ResponseModel):
    """A receiver of the changes of a tenant's memories."""

    id: str
    url: str
    label: str
    kinds: list[str]
    """Kinds of memories; empty: all."""
    content: bool
    """Whether deliveries contain the memory."""
    created: datetime
    """Earlier changes are not sent."""
    secrets: list[WebhookSecretView]


class WebhookViews(ResponseModel):
    """A tenant's webhooks."""

    webhooks: list[WebhookView]


class WebhookMade(Changed):
    """A webhook, and a new signing secret that is shown only once."""

    id: str
    secret: str


class WebhookLetter(ResponseModel):
    """A delivery whose attempts all failed."""

    id: str
    """The ``webhook-id`` of the delivery."""
    event: str
    memory_id: str
    changed_at: datetime
    attempts: int
    problem: str
    """The last failure."""
    dead_at: datetime | None
    redriven: int
    """Number of redrives."""


class WebhookLetters(ResponseModel):
    """The dead letters of a webhook."""

    letters: list[WebhookLetter]
    dead: int
    """Number of dead letters."""
    pending: int
    """Number of deliveries that wait or run."""


class WebhookRedriven(ResponseModel):
    """The number of deliveries that are sent again."""

    redriven: int


class WebhookTrial(ResponseModel):
    """The outcome of a test delivery."""

    id: str
    """Its ``webhook-id``."""
    delivered: bool
    problem: str | None


class OperatorKeyView(_KeyView):
    """An operator's key, without its hash."""

    role: Role


class OperatorKeys(ResponseModel):
    """The operators' keys."""

    keys: list[OperatorKeyView]
    uses_known: bool
    """Whether the times of last use are known: Redis stores them."""


class SchemaRevision(ResponseModel):
    """A schema's revision, and the number of tenants that use it."""

    schema_ref: str = Field(alias="schema")
    tenants: int
    owner: str | None
    """The only tenant that may use it; null: every tenant."""


class OwnSchemaRevision(ResponseModel):
    """A revision that a tenant may use."""

    schema_ref: str = Field(alias="schema")
    own: bool
    """Whether only this tenant can see it."""
    in_force: bool


class OwnSchemaRevisions(ResponseModel):
    """Revisions by name, and the start of the next page."""

    schemas: list[OwnSchemaRevision]
    next: int | None


class SchemaRevisions(ResponseModel):
    """Revisions by name, and the start of the next page."""

    schemas: list[SchemaRevision]
    next: int | None


class Signing(Changed):
    """The signature policy for messages that are produced in a tenant's name."""

    required_since: datetime | None
    keys: list[dict[str, Any]]
    key: str | None
    """The key that was added, in hexadecimal."""


class Applied(Changed):
    """The changes that an applied file made, or would make."""

    documents: int
    differences: list[str]
    """The first of them, one per line."""


class ControlPlace(ResponseModel):
    """This process's view of the control log."""

    position: int
    reached: bool
    """Whether it includes the requested position."""
    age_s: float
    """Seconds since this process last knew the whole log."""
    lease_s: float
    """Every process applies a change of this age."""


class SchemaView(ResponseModel):
    """A revision of a memory schema."""

    schema_ref: str = Field(alias="schema")
    """Its name and revision, such as `notes@2`."""
    owner: str | None = None
    """The only tenant that may use it; null: every tenant may."""
    content: dict[str, Any]
    """`EventTypes`, `EntityTypes` and further parts. It can be sent back unchanged."""


class MethodSummary(ResponseModel):
    """A memory method, with the types that it adds to a schema."""

    method: str
    version: str
    description: str
    source: str
    event_types: list[str]
    entity_types: list[str]
    retrievers: list[str]


class MethodSummaries(ResponseModel):
    """The shipped memory methods."""

    methods: list[MethodSummary]


class MethodView(ResponseModel):
    """A memory method."""

    method: str
    content: dict[str, Any]
    """`Archive`, `Extract`, `Manage`, `Store` and `Retrieve`."""


class ExportedFile(ResponseModel):
    """All tenants and operators, in the form that `apply` takes."""

    model_config = ConfigDict(extra="allow")

    tenants: list[dict[str, Any]]
    operators: list[dict[str, Any]]


class AuditRecords(ResponseModel):
    """Records of the audit, oldest first."""

    records: list[dict[str, Any]]
    total: int


class AuditVerdict(ResponseModel):
    """Whether the audit chain is complete."""

    changes: int
    records: int
    digest: str
    problems: list[str]


CHANGED: Final[Responses] = answers(Changed, description=_DONE)
TENANTS: Final[Responses] = answers(TenantViews, description="The tenants, by id.")
TENANT: Final[Responses] = answers(TenantView, description="The tenant.")
KEY_MADE: Final[Responses] = answers(KeyMade, description=f"{_DONE} The key is shown only once.")
API_KEYS: Final[Responses] = answers(ApiKeys, description="The tenant's keys.")
WEBHOOKS: Final[Responses] = answers(WebhookViews, description="The tenant's webhooks.")
WEBHOOK_MADE: Final[Responses] = answers(WebhookMade, description=f"{_DONE} The secret is shown only once.")
WEBHOOK_LETTERS: Final[Responses] = answers(WebhookLetters, description="The dead letters, oldest change first.")
WEBHOOK_REDRIVEN: Final[Responses] = answers(WebhookRedriven, description="They are sent again.")
WEBHOOK_TRIAL: Final[Responses] = answers(WebhookTrial, description="The outcome.")
OPERATOR_KEYS: Final[Responses] = answers(OperatorKeys, description="The operators' keys.")
GENERATIONS: Final[Responses] = answers(Generations, description="The tenant's generations.")
HOLDS: Final[Responses] = answers(HoldViews, description="The holds, the oldest first.")
HOLD_CHANGED: Final[Responses] = answers(HoldChanged, description=_DONE)
ERASURES: Final[Responses] = answers(ErasureViews, description="The erasures, the oldest request first.")
ERASING: Final[Responses] = answers(ErasureBegun, status=202, description="The erasure has begun; request the list to see its state.")
SWITCHED: Final[Responses] = answers(Switched, description=_DONE)
DROPPED: Final[Responses] = answers(Dropped, description=f"{_DONE} The stages do the work.")
SCHEMAS: Final[Responses] = answers(SchemaRevisions, description="The schemas' revisions.")
OWN_SCHEMAS: Final[Responses] = answers(OwnSchemaRevisions, description="The revisions, by name.")
SCHEMA: Final[Responses] = answers(SchemaView, description="The schema. It can be sent back unchanged.")
METHODS: Final[Responses] = answers(MethodSummaries, description="The methods, by name.")
METHOD: Final[Responses] = answers(MethodView, description="The method.")
SCHEMA_WRITTEN: Final[Responses] = answers(SchemaWritten, description=_DONE)
SIGNING: Final[Responses] = answers(Signing, description=_DONE)
APPLIED: Final[Responses] = answers(Applied, description="The changes that were made, or would be made.")
EXPORTED: Final[Responses] = answers(ExportedFile, description="The file.")
PLACE: Final[Responses] = answers(ControlPlace, description="This process's view.")
AUDIT: Final[Responses] = answers(AuditRecords, description="The records.")
VERDICT: Final[Responses] = answers(AuditVerdict, description="The result of the check.")
