"""Quotas of the query service."""

from pydantic import Field

from runtime.settings.group import Group


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
