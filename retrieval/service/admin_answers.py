"""What the operators' routes answer, as the OpenAPI document describes it."""

from datetime import datetime
from typing import Any, Final, Literal

from pydantic import BaseModel, Field

from retrieval.service.openapi import Responses, answers, schema_of
from runtime.control.documents import Role, Scope

_DONE: Final = "It is in force, and this process knows it."


class Changed(BaseModel):
    """A change's place in the control log."""

    position: int = Field(ge=0)
    """Who has followed the log to there knows it."""
    changed: bool
    """False: all was so already."""
    settled: bool
    """Whether it holds even in a process that has lost Kafka."""


class TenantView(BaseModel):
    """A tenant."""

    id: str
    schema_ref: str = Field(alias="schema")
    state: Literal["active", "suspended"]
    weight: float
    budget: dict[str, Any]
    quota: dict[str, Any]
    signing: dict[str, Any]
    keys: int
    generation: str
    generations: list[dict[str, str]]
    drops: list[dict[str, Any]] = []


class TenantViews(BaseModel):
    """Tenants by id, and where the next page begins."""

    tenants: list[TenantView]
    next: str | None


class KeyMade(Changed):
    """A new key, which is shown this once."""

    id: str
    key: str


class ErasureBegun(Changed):
    """An erasure that is being carried out."""

    subject: str
    """The SHA-256 that stands for the user."""
    resumable: bool
    """Whether another process goes on where this one stops. False: Redis is away, and after a stop it has to be asked for again."""


class ErasureView(BaseModel):
    """An erasure, and its receipt once it is finished."""

    subject: str
    reason: str
    requested_at: datetime
    finished_at: datetime | None
    """Null: it is being carried out, or waits to be taken up."""
    gone_by: datetime | None
    """When Kafka will have removed the last of its bytes."""
    found: dict[str, int]
    remains: list[str]
    running: bool
    """Whether a process is at it, or was killed less than half a minute ago. While Redis is away: whether this one is."""
    problem: str | None
    """What the last try of this process was broken off by."""


class ErasureViews(BaseModel):
    """A tenant's erasures."""

    erasures: list[ErasureView]


class SchemaWritten(Changed):
    """The revision that holds what was sent."""

    schema_ref: str = Field(alias="schema")


class GenerationView(BaseModel):
    """A generation of a tenant's memories; the first one's name is empty."""

    name: str
    schema_ref: str = Field(alias="schema")
    live: bool


class Generations(BaseModel):
    """A tenant's generations."""

    generations: list[GenerationView]


class Switched(Changed):
    """A generation that is live."""

    windows_left: int
    """Windows that its workers have still to do, of whatever tenant: those that have closed, and those that are parked."""


class Dropped(Changed):
    """A generation that is being taken back."""

    drops: int
    """How often it has been dropped, this time included."""
    retracted: int
    """How many windows are taken back."""


class _KeyView(BaseModel):
    id: str
    label: str
    created: datetime
    expires: datetime | None
    last_used: datetime | None
    """To the minute; null: not for 400 days, or not known."""


class ApiKeyView(_KeyView):
    """A key to a tenant's memory, without its hash."""

    scopes: list[Scope]
    user: str | None


class ApiKeys(BaseModel):
    """A tenant's keys."""

    keys: list[ApiKeyView]
    uses_known: bool
    """Whether Redis says when they were last used."""


class OperatorKeyView(_KeyView):
    """An operator's key, without its hash."""

    role: Role


class OperatorKeys(BaseModel):
    """The operators' keys."""

    keys: list[OperatorKeyView]
    uses_known: bool
    """Whether Redis says when they were last used."""


class SchemaRevision(BaseModel):
    """A schema's revision, and how many tenants have it in force."""

    schema_ref: str = Field(alias="schema")
    tenants: int
    owner: str | None
    """The one tenant that may have it in force; null: every tenant."""


class OwnSchemaRevision(BaseModel):
    """A revision that a tenant may have in force."""

    schema_ref: str = Field(alias="schema")
    own: bool
    """Whether nobody else sees it."""
    in_force: bool


class OwnSchemaRevisions(BaseModel):
    """Revisions by name, and where the next page begins."""

    schemas: list[OwnSchemaRevision]
    next: int | None


class SchemaRevisions(BaseModel):
    """Revisions by name, and where the next page begins."""

    schemas: list[SchemaRevision]
    next: int | None


class Signing(Changed):
    """What a tenant demands of messages that are produced in its name."""

    required_since: datetime | None
    keys: list[dict[str, Any]]
    key: str | None
    """The key that was added, in hexadecimal."""


class Applied(Changed):
    """What an applied file changed, or would change."""

    documents: int
    differences: list[str]
    """The first of them, a line each."""


class ControlPlace(BaseModel):
    """What this process knows of the control log."""

    position: int
    reached: bool
    """Whether that is as far as was asked for."""
    age_s: float
    """How long ago all of the log was known here, in seconds."""
    lease_s: float
    """A change that is as old holds everywhere."""


class AuditRecords(BaseModel):
    """Records of the audit, oldest first."""

    records: list[dict[str, Any]]
    total: int


class AuditVerdict(BaseModel):
    """Whether the chain of the audit is whole."""

    changes: int
    records: int
    digest: str
    problems: list[str]


CHANGED: Final[Responses] = answers(schema_of(Changed), description=_DONE)
TENANTS: Final[Responses] = answers(schema_of(TenantViews), description="The tenants, by id.")
TENANT: Final[Responses] = answers(schema_of(TenantView), description="The tenant.")
KEY_MADE: Final[Responses] = answers(schema_of(KeyMade), description=f"{_DONE} The key is shown this once.")
API_KEYS: Final[Responses] = answers(schema_of(ApiKeys), description="The tenant's keys.")
OPERATOR_KEYS: Final[Responses] = answers(schema_of(OperatorKeys), description="The operators' keys.")
GENERATIONS: Final[Responses] = answers(schema_of(Generations), description="The tenant's generations.")
ERASURES: Final[Responses] = answers(schema_of(ErasureViews), description="The erasures, the oldest request first.")
ERASING: Final[Responses] = answers(schema_of(ErasureBegun), status=202, description="It is carried out; ask for the list.")
SWITCHED: Final[Responses] = answers(schema_of(Switched), description=_DONE)
DROPPED: Final[Responses] = answers(schema_of(Dropped), description=f"{_DONE} The stages carry it out.")
SCHEMAS: Final[Responses] = answers(schema_of(SchemaRevisions), description="The schemas' revisions.")
OWN_SCHEMAS: Final[Responses] = answers(schema_of(OwnSchemaRevisions), description="The revisions, by name.")
SCHEMA: Final[Responses] = answers({"type": "object"}, description="The schema, as it may be written again.")
SCHEMA_WRITTEN: Final[Responses] = answers(schema_of(SchemaWritten), description=_DONE)
SIGNING: Final[Responses] = answers(schema_of(Signing), description=_DONE)
APPLIED: Final[Responses] = answers(schema_of(Applied), description="What became, or would become, another.")
EXPORTED: Final[Responses] = answers({"type": "object", "required": ["tenants", "operators"]}, description="The file.")
PLACE: Final[Responses] = answers(schema_of(ControlPlace), description="What this process knows.")
AUDIT: Final[Responses] = answers(schema_of(AuditRecords), description="The records.")
VERDICT: Final[Responses] = answers(schema_of(AuditVerdict), description="What was found.")
