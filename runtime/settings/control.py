"""Settings of the control log, the service's quotas, signatures and seals, and the canary."""

from typing import Annotated

from pydantic import AwareDatetime, Field, SecretStr

from runtime.settings.group import Group

MasterSecret = Annotated[SecretStr, Field(min_length=32)]


class ControlSettings(Group):
    """The control log: tenants, keys and their rights."""

    lease_s: float = Field(
        default=15.0,
        gt=0,
        description="How long a process may act on its last confirmed read of the control log; then it rejects all requests and lets "
        "records wait. Commands that take access away wait this long. Use the same value in every process.",
    )
    write_timeout_s: float = Field(
        default=60.0, gt=0, description="How long a change of the control log is retried while other writers are faster."
    )


class QuotaSettings(Group):
    """Quotas of each tenant over all processes of the query service. Default: no limits."""

    messages_per_second: float | None = Field(
        default=None, gt=0, description="Rate limit: messages per second per tenant. Default: no limit."
    )
    bytes_per_second: float | None = Field(
        default=None, gt=0, description="Rate limit: bytes of message bodies per second per tenant. Default: no limit."
    )
    recalls_per_second: float | None = Field(
        default=None, gt=0, description="Rate limit: recalls per second per tenant. Default: no limit."
    )
    concurrent_recalls: int | None = Field(default=None, ge=1, description="Concurrent recalls per tenant. Default: no limit.")
    burst_s: float = Field(
        default=10.0,
        gt=0,
        le=3600,
        description="Seconds' worth of a rate that may arrive at once. A larger request waits until all of it is available.",
    )
    memories: int | None = Field(
        default=None,
        ge=0,
        description="Maximum number of memories per tenant, counted twice a minute; above it, new messages are refused. Default: no limit.",
    )


class SigningSettings(Group):
    """The master secret of producers' signing keys and of Varve's own seal."""

    secret: MasterSecret | None = Field(
        default=None,
        description="Master secret, the same in every process (`varve tenants signing-secret` prints one). Without it, every producer that "
        "may write `messages` is trusted, also with commands.",
    )
    previous_secrets: tuple[MasterSecret, ...] = Field(
        default=(), description="JSON list of replaced master secrets. What was signed under them stays valid."
    )
    since: AwareDatetime | None = Field(
        default=None,
        description="Records appended to the log before this time are trusted as they are. Set it to the time at which a running "
        "installation got its secret.",
    )
    max_age_s: float = Field(
        default=900.0,
        gt=0,
        description="Maximum difference between the time in a signature (or seal) and the broker's append time. A larger difference is "
        "rejected as a replayed copy or a clock error.",
    )


class CanarySettings(Group):
    """`varve canary`; `VARVE_CLIENT__*` sets its tenant and user."""

    interval_s: float = Field(default=60.0, gt=0, description="Time between two test facts of the canary.")
    goal_s: float = Field(default=60.0, gt=0, description="A fact counts as fresh if a recall finds it within this time.")
    timeout_s: float = Field(default=120.0, gt=0, description="How long the canary looks for a fact.")
    facts: int = Field(default=10, ge=1, le=20, description="Test facts kept at a time; the newest replaces the oldest.")
