"""What a tenant may ask of the query service."""

from pydantic import Field

from runtime.settings.group import Group


class QuotaSettings(Group):
    """What each tenant may ask of the query service, over all its processes; none of it is bounded unless set."""

    messages_per_second: float | None = Field(default=None, gt=0, description="Messages that a tenant may post a second; none if unset.")
    bytes_per_second: float | None = Field(default=None, gt=0, description="Bytes of such requests' bodies; none if unset.")
    recalls_per_second: float | None = Field(default=None, gt=0, description="Recalls that a tenant may ask for a second; none if unset.")
    concurrent_recalls: int | None = Field(default=None, ge=1, description="Recalls of a tenant at once; none if unset.")
    burst_s: float = Field(
        default=10.0,
        gt=0,
        le=3600,
        description="What these rates allow in so many seconds may come at once; a larger request waits for all of it.",
    )
    memories: int | None = Field(
        default=None, ge=0, description="Memories from which on a tenant's messages are refused, counted twice a minute; none if unset."
    )
