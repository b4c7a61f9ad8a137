"""A tenant's levels of trust in sources, as the control log keeps them."""

from datetime import datetime

from pydantic import AwareDatetime, Field

from memory.times import milliseconds_of
from memory.trust import TrustPolicy


class TenantTrust(TrustPolicy):
    """The levels in force, and how far they are applied."""

    version: int = Field(default=0, ge=0)
    """Grows with every change: milliseconds since 1970, so that it also grows over a restore. 0: they were never set."""
    changed_at: AwareDatetime | None = None
    """Time of the newest change."""
    applied: int = Field(default=0, ge=0)
    """The newest version that was applied to all published windows."""

    @property
    def policy(self) -> TrustPolicy:
        """The levels only."""
        return TrustPolicy(sources=self.sources, entities_from=self.entities_from)

    @property
    def is_applied(self) -> bool:
        """Whether every published window has the levels in force."""
        return self.applied >= self.version

    def with_policy(self, policy: TrustPolicy, *, now: datetime) -> "TenantTrust":
        """Other levels, with the next version; the same object if they are equal."""
        if policy == self.policy:
            return self
        version = max(self.version + 1, milliseconds_of(now))
        return TenantTrust(
            sources=policy.sources, entities_from=policy.entities_from, version=version, changed_at=now, applied=self.applied
        )
