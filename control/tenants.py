"""Synchronous lookups of tenants, keys and schemas in a process's copy of the control log."""

import time
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from control.access_keys import ApiKey, OperatorKey
from control.documents import SchemaDocument, SchemaRef, Tenant, tenant_key
from control.draft import Draft
from control.erasure import subject_of
from control.errors import ControlLogBehindError, UnknownTenantError, UnreadableTenantError
from control.follower import ControlFollower
from control.state import ControlState
from control.view import ControlView
from memory.errors import SchemaError
from memory.schema import MemorySchema, parse_schema
from memory.topics import WINDOWS
from runtime.clocks import Clock, SystemClock
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.settings import Settings

__all__ = ["UNFINISHED", "KeyHolder", "Tenant", "TenantDirectory", "follow_tenants"]

_log = logger(__name__)

UNFINISHED: Final = datetime.max.replace(tzinfo=UTC)
"""End of an erasure that is running."""
_MOST_MISSED: Final = 10_000
"""Limit for the remembered unknown names."""
_CERTAIN_S: Final = 10.0
"""Longer than a batch takes. A later request for the name starts again, because it may have been written meanwhile."""
_WAITED_FOR_S: Final = 600.0
"""Longer than the wait before a record is retried."""


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """A key with its tenant."""

    tenant: Tenant
    key: ApiKey


class TenantDirectory:
    """The tenants, keys and schemas in the process's copy of the control log.

    Methods raise an error if the copy is too old. A name counts as unknown only once the copy was confirmed after the first request for it.

    Args:
        view: The copy of the control log.
        clock: Clock for the expiry of keys.
        monotonic: The clock of the copy's confirmations.
    """

    def __init__(self, view: ControlView, *, clock: Clock | None = None, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._view = view
        self._clock = clock or SystemClock()
        self._monotonic = monotonic
        self._missed: dict[Hashable, _Missed] = {}
        self._parsed: dict[SchemaRef, tuple[SchemaDocument, MemorySchema]] = {}

    @property
    def is_current(self) -> bool:
        """Whether the copy may be used, so that requests are accepted."""
        return self._view.is_current

    def require_current(self) -> None:
        """Checks that the copy may be used.

        Raises:
            ControlLogBehindError: If the log could not be followed for too long; contains the reason.
        """
        self._view.require_current()

    @property
    def position(self) -> int:
        """The offset up to which the log was read."""
        return self._view.state.position

    @property
    def age_s(self) -> float:
        """Seconds since the copy was last known to be complete."""
        return max(0.0, self._monotonic() - self._view.confirmed_at)

    async def wait_for(self, position: int, *, timeout_s: float) -> None:
        """See :meth:`control.ControlFollower.wait_for`."""
        await self._view.wait_for(position, timeout_s=timeout_s)

    def draft(self) -> Draft:
        """A draft for reading the whole copy. Changes of the draft do not affect the copy.

        Raises:
            ControlLogBehindError: If the copy is too old.
        """
        return Draft(self._current())

    def get(self, tenant_id: str) -> Tenant:
        """The tenant with an id.

        Raises:
            UnknownTenantError: If there is none.
            ControlLogBehindError: If that is not certain yet, or the copy is too old.
        """
        state = self._current()
        tenant = state.tenants.get(tenant_id)
        if state.is_unreadable(tenant_id):
            raise UnreadableTenantError(
                f"the record of tenant {tenant_id!r} was written by a newer version of Varve, or is damaged; see the log",
                for_s=time.monotonic() - state.unreadable_since[tenant_key(tenant_id)],
            )
        if tenant is not None and tenant.state != "removed":
            return tenant
        if self._is_certain(tenant_id):
            raise UnknownTenantError(f"there is no tenant {tenant_id!r}; add it with `varve tenants add` or correct the record")
        raise ControlLogBehindError(f"tenant {tenant_id!r} is not known yet")

    def by_api_key_hash(self, key_hash: str) -> KeyHolder | None:
        """The holder of an API key, by the SHA-256 of the key; None if the key is unknown or expired.

        Raises:
            ControlLogBehindError: If the copy is too old.
        """
        found = self._current().holder_of(key_hash)
        if found is None or found[1].is_expired(self._clock.now()):
            return None
        return KeyHolder(*found)

    def by_operator_key_hash(self, key_hash: str) -> OperatorKey | None:
        """An operator's key, by its SHA-256; it gives no access to tenants' memories. None if the key is unknown or expired.

        Raises:
            ControlLogBehindError: If the copy is too old.
        """
        found = next((each for each in self._current().operators.keys if each.hash == key_hash), None)
        return None if found is None or found.is_expired(self._clock.now()) else found

    def all(self) -> tuple[Tenant, ...]:
        """All tenants.

        Raises:
            ControlLogBehindError: If the copy is too old.
        """
        return tuple(tenant for tenant in self._current().tenants.values() if tenant.state != "removed")

    def schema_of(self, tenant_id: str, generation: str | None = None) -> MemorySchema:
        """The schema of a tenant's generation.

        Args:
            tenant_id: The tenant.
            generation: The generation; a removed one has the tenant's first schema. Default: the live one.

        Raises:
            UnknownTenantError: If there is no such tenant.
            SchemaError: If there is no such schema, or this version of Varve cannot read it.
            ControlLogBehindError: If that is not certain yet, or the copy is too old.
        """
        tenant = self.get(tenant_id)
        return self.schema(tenant.schema_of(tenant.generation if generation is None else generation))

    def schema(self, ref: SchemaRef) -> MemorySchema:
        """One revision of a schema; revisions never change.

        Raises:
            SchemaError: If there is no such schema, or this version of Varve cannot read it.
            ControlLogBehindError: If that is not certain yet, or the copy is too old.
        """
        document = self._current().schemas.get(ref)
        if document is None:
            if self._is_certain(ref):
                raise SchemaError("", f"there is no schema {ref}")
            raise ControlLogBehindError(f"the schema {ref} is not known yet")
        known = self._parsed.get(ref)
        if known is None or known[0] is not document:
            known = self._parsed[ref] = document, parse_schema(document.content, name=document.name)
        return known[1]

    def is_erased(self, tenant: str, user: str | None, topic: str, partition: int, offset: int) -> bool:
        """Whether an erasure of a user covers a record, so that it has to be skipped.

        Args:
            tenant: The record's tenant.
            user: The record's user; None: it belongs to no user.
            topic: The record's original topic, without the prefix.
            partition: The record's original partition.
            offset: The record's original offset.

        Raises:
            ControlLogBehindError: If the copy is too old.
        """
        state = self._current()
        if not state.knows_erasures(tenant):
            raise ControlLogBehindError(
                f"an erasure record of tenant {tenant!r} was written by a newer version of Varve, or is damaged; see the log"
            )
        return state.is_erased(tenant, user, topic, partition, offset)

    def is_held(self, tenant: str, user: str) -> bool:
        """Whether a legal hold is in force on a user.

        Raises:
            ControlLogBehindError: If the copy is too old.
        """
        return self._current().hold_on(tenant, subject_of(tenant, user)) is not None

    def erasures_revision(self, tenant: str) -> int:
        """Number of writes of the erasures of a tenant's users: it changes with each. 0: there are none, or the copy is too old."""
        return self._view.state.erasure_writes.get(tenant, 0) if self._view.is_current else 0

    def erasure_epoch(self, tenant: str, user: str) -> str:
        """Epoch of the user's newest erasure, which separates messages before and after it; empty: the user was never erased.

        It changes when the erasure begins, and again when its reach in ``windows`` is known: messages that come in between lose their
        windows, so that sending them again is no repetition.

        Args:
            tenant: The user's tenant.
            user: The user.

        Raises:
            ControlLogBehindError: If the copy is too old.
        """
        erasure = self._current().erasures.get(subject_of(tenant, user))
        if erasure is None:
            return ""
        return f"{erasure.requested_at.isoformat()} {','.join(map(str, erasure.reaches.get(WINDOWS.name, ())))}"

    def erased_until(self, tenant: str, user: str) -> datetime | None:
        """End of the user's newest erasure; :data:`UNFINISHED` while it runs; None: the user was never erased.

        Args:
            tenant: The user's tenant.
            user: The user.

        Raises:
            ControlLogBehindError: If the copy is too old.
        """
        erasure = self._current().erasures.get(subject_of(tenant, user))
        return None if erasure is None else erasure.finished_at or UNFINISHED

    def _current(self) -> ControlState:
        self._view.require_current()
        return self._view.state

    def _is_certain(self, name: Hashable) -> bool:
        """Whether the log certainly lacks a name: the writer of the name may know a record that this process has not read yet."""
        now = self._monotonic()
        missed = self._missed.get(name)
        if missed is None or now - missed.since > (_CERTAIN_S if missed.is_certain else _WAITED_FOR_S):
            if len(self._missed) >= _MOST_MISSED:
                self._missed.clear()
            missed = self._missed[name] = _Missed(now)
        if not missed.is_certain and self._view.confirmed_at > missed.since:
            # The result is kept for a while: a batch requests a name many times, and is retried if one answer is "not yet".
            missed.since, missed.is_certain = now, True
        return missed.is_certain


@dataclass(slots=True)
class _Missed:
    """A requested name that is not known."""

    since: float
    """Time of the first request, or of becoming certain."""
    is_certain: bool = False


@asynccontextmanager
async def follow_tenants(settings: Settings, metrics: Metrics, *, wait_s: float | None = None) -> AsyncIterator[TenantDirectory]:
    """Follows the control log for the length of a block.

    Args:
        settings: The settings, with Kafka's address.
        metrics: Reports the age of the copy.
        wait_s: How long to wait until the log is read to its end, in seconds; after that the block starts without a current copy. None:
            wait for the request time-out and fail after that.

    Raises:
        ControlLogBehindError: If the log could not be read in time and ``wait_s`` is None.
    """
    follower = ControlFollower(settings=settings)
    metrics.control_age.set_function(lambda: follower.age_s)
    metrics.control_position.set_function(lambda: follower.state.position)
    metrics.erasure_unfinished_since.set_function(lambda: since.timestamp() if (since := follower.state.unfinished_since()) else 0)
    follower.start()
    try:
        try:
            await follower.wait_for(0, timeout_s=settings.kafka.request_timeout_s if wait_s is None else wait_s)
        except ControlLogBehindError as error:
            if wait_s is None:
                raise
            _log.warning("control_log_not_read", error=str(error))
        yield TenantDirectory(follower)
    finally:
        await follower.stop()
