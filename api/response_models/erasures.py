"""Response models of the routes for erasures and legal holds, for the OpenAPI document."""

from datetime import datetime
from typing import Final

from api.http.openapi import ResponseModel, Responses, answers
from api.response_models.admin import DONE, Changed


class ErasureBegun(Changed):
    """An erasure that is in progress."""

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


ERASURES: Final[Responses] = answers(ErasureViews, description="The erasures, the oldest request first.")
ERASING: Final[Responses] = answers(ErasureBegun, status=202, description="The erasure has begun; request the list to see its state.")
HOLDS: Final[Responses] = answers(HoldViews, description="The holds, the oldest first.")
HOLD_CHANGED: Final[Responses] = answers(HoldChanged, description=DONE)
