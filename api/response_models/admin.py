"""Response models of the operators' routes for tenants, keys, trust and the control log, for the OpenAPI document."""

from datetime import datetime
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from api.http.openapi import ResponseModel, Responses, answers
from control.access_keys import Role, Scope
from memory.records.trust import EntityTrust, TrustLevel

DONE: Final = "It is in force, and this process knows it."


class Changed(ResponseModel):
    """A change's place in the control log."""

    position: int = Field(ge=0)
    """Processes that have read the control log up to this position apply the change."""
    changed: bool
    """False: nothing had to change."""
    settled: bool
    """Whether every process applies it, even one without a connection to Kafka."""


class LimitsInForce(ResponseModel):
    """A tenant's limits: its own, otherwise those of the service's settings. Null: no limit."""

    budget: dict[str, Any]
    quota: dict[str, Any]


class TenantView(ResponseModel):
    """A tenant."""

    id: str
    revision: int
    """Grows with every change of the tenant, its keys, webhooks and generations. `If-Match: "REVISION"` makes a change depend on it."""
    schema_ref: str = Field(alias="schema")
    state: Literal["active", "suspended"]
    weight: float
    budget: dict[str, Any]
    """Its own values, which override `VARVE_BUDGET__*`. Null lifts a limit."""
    quota: dict[str, Any]
    """Its own values, which override `VARVE_QUOTA__*`. Null lifts a limit."""
    in_force: LimitsInForce
    signing: dict[str, Any]
    messages: dict[str, Any]
    """Its time zone, and the markup that is removed from its messages; empty: neither."""
    retention: dict[str, str]
    """How long results of each type, and raw messages, are kept; empty: forever."""
    redaction: dict[str, Any]
    """The personal data that models do not see; empty: they see everything."""
    trust: dict[str, Any]
    """Its levels of trust in sources; empty: every source is normal."""
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
    total: int
    """The number of tenants on all pages."""


class KeyMade(Changed):
    """A new key. It is shown only once."""

    id: str
    key: str


class TrustView(ResponseModel):
    """A tenant's levels of trust in the sources of its memories."""

    tenant: str
    sources: dict[str, TrustLevel]
    """By source; every other source is `normal`."""
    entities_from: EntityTrust
    """The lowest level of what changes entities."""
    version: int
    """Grows with every change. 0: the levels were never set."""
    changed_at: datetime | None
    is_applied: bool
    """Whether everything that was extracted before has these levels, too."""


class TrustChanged(Changed, TrustView):
    """Changed levels. What was extracted before gets them within a few seconds: see `is_applied` of `GET /v1/admin/trust`."""


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


class OperatorKeyView(_KeyView):
    """An operator's key, without its hash."""

    role: Role


class OperatorKeys(ResponseModel):
    """The operators' keys."""

    keys: list[OperatorKeyView]
    uses_known: bool
    """Whether the times of last use are known: Redis stores them."""


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


class ExportedFile(ResponseModel):
    """All tenants and operators, in the form that `apply` takes."""

    model_config = ConfigDict(extra="allow")

    tenants: list[dict[str, Any]]
    operators: list[dict[str, Any]]


CHANGED: Final[Responses] = answers(Changed, description=DONE)
TENANTS: Final[Responses] = answers(TenantViews, description="The tenants, by id.")
TENANT: Final[Responses] = answers(
    TenantView, description="The tenant.", headers={"ETag": {"description": "Its revision, for `If-Match`.", "schema": {"type": "string"}}}
)
KEY_MADE: Final[Responses] = answers(KeyMade, description=f"{DONE} The key is shown only once.")
API_KEYS: Final[Responses] = answers(ApiKeys, description="The tenant's keys.")
OPERATOR_KEYS: Final[Responses] = answers(OperatorKeys, description="The operators' keys.")
SIGNING: Final[Responses] = answers(Signing, description=DONE)
APPLIED: Final[Responses] = answers(Applied, description="The changes that were made, or would be made.")
EXPORTED: Final[Responses] = answers(ExportedFile, description="The file.")
PLACE: Final[Responses] = answers(ControlPlace, description="This process's view.")
TRUST: Final[Responses] = answers(TrustView, description="The tenant's levels.")
TRUST_CHANGED: Final[Responses] = answers(TrustChanged, description=DONE)
