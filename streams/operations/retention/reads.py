"""The part of retention that concerns the read audit: the records of ``reads``. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from control.erasure import subject_of
from control.state import ControlState
from memory.keys import parts_of_key
from memory.times import time_of_milliseconds
from streams.operations.retention.tenants import TenantRetention


@dataclass(frozen=True, slots=True)
class ExpiredRead:
    """A record that its tenant keeps no longer."""

    key: bytes
    tenant: str
    user: str

    def is_held(self, state: ControlState) -> bool:
        """Whether it stays because of a legal hold, by the newest control log."""
        return state.hold_on(self.tenant, subject_of(self.tenant, self.user)) is not None


@dataclass(slots=True)
class ExpiredReads:
    """Gathers the old records of one partition, record by record.

    The age is that of the record in the log, which is produced right after the read: no value has to be parsed.

    Args:
        tenants: The tenants with a policy.
    """

    tenants: Mapping[str, TenantRetention]
    _found: dict[bytes, ExpiredRead] = field(default_factory=dict)

    def add(self, key: bytes, value: bytes | None, timestamp_ms: int) -> None:
        """Adds the next record."""
        self._found.pop(key, None)
        if value is None:
            return
        parts = parts_of_key(key)
        if len(parts) != 2:
            return  # not written by a query service
        tenant_id, user = parts
        tenant = self.tenants.get(tenant_id)
        if tenant is None or tenant.reads is None or tenant.is_held(user):
            return
        if time_of_milliseconds(timestamp_ms) < tenant.reads:
            self._found[key] = ExpiredRead(key, tenant_id, user)

    @property
    def found(self) -> list[ExpiredRead]:
        """The old records, in the order of the log."""
        return [*self._found.values()]
