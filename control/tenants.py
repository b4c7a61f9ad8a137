"""Who may use this Varve, as a process knows it: what it has followed of the control log, asked without waiting."""

import math
import time
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from control.documents import ApiKey, OperatorKey, SchemaDocument, SchemaRef, Tenant, hash_key
from control.draft import Draft
from control.erasure import subject_of
from control.errors import ControlLogBehindError, UnknownTenantError
from control.follower import ControlFollower
from control.state import ControlState
from memory.errors import SchemaError
from memory.schema import MemorySchema, parse_schema
from runtime.clocks import Clock, SystemClock
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.settings import Settings

__all__ = ["ControlView", "FixedKnowledge", "KeyHolder", "Tenant", "TenantDirectory", "follow_tenants"]

_log = logger(__name__)

_MOST_MISSED: Final = 10_000
"""Names that were asked for and are not known, and are remembered."""
_CERTAIN_S: Final = 10.0
"""Longer than a batch takes. A name that is asked for later is looked for anew: it may have been written since."""
_WAITED_FOR_S: Final = 600.0
"""Longer than a record waits before it is handled again."""


class ControlView(Protocol):
    """What is known of the control log, and since when nothing newer is."""

    @property
    def state(self) -> ControlState:
        """What is known."""
        ...

    @property
    def confirmed_at(self) -> float:
        """The last moment, by a monotonic clock, of which all is known."""
        ...

    @property
    def is_current(self) -> bool:
        """Whether it may be gone by."""
        ...

    def require_current(self) -> None:
        """Raises ControlLogBehindError while it may not."""
        ...

    async def wait_for(self, position: int, *, timeout_s: float) -> None:
        """See :meth:`control.ControlFollower.wait_for`."""
        ...


@dataclass(frozen=True, slots=True)
class FixedKnowledge:
    """What somebody has read of the log, for one who needs nothing newer."""

    state: ControlState
    confirmed_at: float = math.inf
    is_current: bool = True

    def require_current(self) -> None:
        """It is always current."""

    async def wait_for(self, position: int, *, timeout_s: float) -> None:
        """Nothing newer is waited for; see :meth:`ControlView.wait_for`."""


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """Whose a key is, and what it opens."""

    tenant: Tenant
    key: ApiKey


class TenantDirectory:
    """The tenants, keys and schemas that this process knows.

    Nothing is told from knowledge that is too old, and nobody is called unknown before it is certain that the log has no word of them.

    Args:
        knowledge: What is known of the control log.
        clock: Tells whether a key has expired.
        monotonic: The clock of the knowledge.
    """

    def __init__(self, knowledge: ControlView, *, clock: Clock | None = None, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._knowledge = knowledge
        self._clock = clock or SystemClock()
        self._monotonic = monotonic
        self._missed: dict[Hashable, _Missed] = {}
        self._parsed: dict[SchemaRef, tuple[SchemaDocument, MemorySchema]] = {}

    @property
    def is_current(self) -> bool:
        """Whether anybody is admitted now."""
        return self._knowledge.is_current

    def require_current(self) -> None:
        """Returns while anybody is admitted.

        Raises:
            ControlLogBehindError: If the log could not be followed for too long; says why.
        """
        self._knowledge.require_current()

    @property
    def position(self) -> int:
        """The offset up to which the log is known."""
        return self._knowledge.state.position

    @property
    def age_s(self) -> float:
        """How long ago all of the log was known, in seconds."""
        return max(0.0, self._monotonic() - self._knowledge.confirmed_at)

    async def wait_for(self, position: int, *, timeout_s: float) -> None:
        """As :meth:`control.ControlFollower.wait_for`."""
        await self._knowledge.wait_for(position, timeout_s=timeout_s)

    def draft(self) -> Draft:
        """All that is known, to be looked through. What is put into it stays there.

        Raises:
            ControlLogBehindError: If what is known is too old.
        """
        return Draft(self._current())

    def get(self, tenant_id: str) -> Tenant:
        """The tenant of that id.

        Raises:
            UnknownTenantError: If there is none.
            ControlLogBehindError: If that is not certain yet, or what is known is too old.
        """
        state = self._current()
        tenant = state.tenants.get(tenant_id)
        if state.is_unreadable(tenant_id):
            raise ControlLogBehindError(f"the record of tenant {tenant_id!r} is of a newer Varve, or damaged; see the log")
        if tenant is not None and tenant.state != "removed":
            return tenant
        if self._is_certain(tenant_id):
            raise UnknownTenantError(f"there is no tenant {tenant_id!r}; add it with `varve tenants add` or mend the record")
        raise ControlLogBehindError(f"tenant {tenant_id!r} is not known yet")

    def by_api_key(self, key: str) -> KeyHolder | None:
        """Whose an API key is; None for one that nobody has, or that has expired.

        Raises:
            ControlLogBehindError: If what is known is too old.
        """
        found = self._current().holder_of(hash_key(key))
        if found is None or found[1].is_expired(self._clock.now()):
            return None
        return KeyHolder(*found)

    def by_operator_key(self, key: str) -> OperatorKey | None:
        """An operator's key: it opens what lies across tenants, and no tenant's memory. None for one that nobody has, or that has expired.

        Raises:
            ControlLogBehindError: If what is known is too old.
        """
        key_hash = hash_key(key)
        found = next((each for each in self._current().operators.keys if each.hash == key_hash), None)
        return None if found is None or found.is_expired(self._clock.now()) else found

    def all(self) -> tuple[Tenant, ...]:
        """All tenants.

        Raises:
            ControlLogBehindError: If what is known is too old.
        """
        return tuple(tenant for tenant in self._current().tenants.values() if tenant.state != "removed")

    def schema_of(self, tenant_id: str, generation: str | None = None) -> MemorySchema:
        """The schema in force for a tenant's generation.

        Args:
            tenant_id: The tenant.
            generation: Which; one that the tenant has no more is read by the tenant's first schema. None: the live one.

        Raises:
            UnknownTenantError: If there is no such tenant.
            SchemaError: If there is no such schema, or this Varve cannot read it.
            ControlLogBehindError: If that is not certain yet, or what is known is too old.
        """
        tenant = self.get(tenant_id)
        return self.schema(tenant.schema_of(tenant.generation if generation is None else generation))

    def schema(self, ref: SchemaRef) -> MemorySchema:
        """One revision of a schema. It never becomes another.

        Raises:
            SchemaError: If there is no such schema, or this Varve cannot read it.
            ControlLogBehindError: If that is not certain yet, or what is known is too old.
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
        """Whether an erasure of a user reaches a record, which is passed over then.

        Args:
            tenant: Whose record.
            user: The user that it is of; None: it is no user's.
            topic: Where it lies, or first lay, without the prefix.
            partition: The partition there.
            offset: The offset there.

        Raises:
            ControlLogBehindError: If what is known is too old to tell.
        """
        state = self._current()
        if not state.knows_erasures(tenant):
            raise ControlLogBehindError(f"the record of an erasure for tenant {tenant!r} is of a newer Varve, or damaged; see the log")
        return state.is_erased(tenant, user, topic, partition, offset)

    def erasure_epoch(self, tenant: str, user: str) -> str:
        """What tells a user's messages from those of before the last erasure; empty: the user was never erased.

        Args:
            tenant: Whose user.
            user: Who.

        Raises:
            ControlLogBehindError: If what is known is too old to tell.
        """
        erasure = self._current().erasures.get(subject_of(tenant, user))
        return "" if erasure is None else erasure.requested_at.isoformat()

    def _current(self) -> ControlState:
        self._knowledge.require_current()
        return self._knowledge.state

    def _is_certain(self, name: Hashable) -> bool:
        """Whether the log has no word of a name: whoever wrote the name may have read what came here a moment later."""
        now = self._monotonic()
        missed = self._missed.get(name)
        if missed is None or now - missed.since > (_CERTAIN_S if missed.is_certain else _WAITED_FOR_S):
            if len(self._missed) >= _MOST_MISSED:
                self._missed.clear()
            missed = self._missed[name] = _Missed(now)
        if not missed.is_certain and self._knowledge.confirmed_at > missed.since:
            # It stays certain for a while: a batch asks for a name many times, and is handled again where one answer is "not yet".
            missed.since, missed.is_certain = now, True
        return missed.is_certain


@dataclass(slots=True)
class _Missed:
    """A name that was asked for and is not known."""

    since: float
    """When that was first, or when it became certain."""
    is_certain: bool = False


@asynccontextmanager
async def follow_tenants(settings: Settings, metrics: Metrics, *, wait_s: float | None = None) -> AsyncIterator[TenantDirectory]:
    """Follows the control log for the length of a block.

    Args:
        settings: Where it is.
        metrics: Shows how old what is known is.
        wait_s: How long the block waits for it to be read to its end, in seconds; behind that it begins, and nobody is admitted yet. None:
            for the time of a request, and without it the block does not begin.

    Raises:
        ControlLogBehindError: If it could not be read, and the block needs it.
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
