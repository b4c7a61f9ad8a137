"""The filter that every request to a store has (docs/internals/architecture.md, invariant 4), independent of the engine.

An HTTP body is translated into a :class:`MemoryFilter` once (``api/reads/recall_body.py``). The filter travels through a recall to the
store, and each engine's adapter translates its :meth:`~MemoryFilter.conditions`. No filter can be built without a tenant.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from memory.dates.event_date import last_moment
from memory.keys import encode_key
from memory.records import Memory
from memory.trust import MinTrust, at_least
from stores.collection import (
    DELETED_AT,
    DELETED_TENANT,
    ENTITY_KEYS,
    EVENT_TIME,
    EXPIRES_AT,
    FEED_OFFSET,
    FEED_PARTITION,
    GENERATION,
    KIND,
    MESSAGES,
    OWNER,
    PARENT,
    SESSION,
    STEP_OF,
    STEP_TENANT,
    TENANT,
    TOP,
    TRUST,
    TYPE,
    AnyOf,
    AtOrBelow,
    Condition,
    DatetimeRange,
    Equals,
    HasId,
    MatchAny,
    MissingOrAfter,
    NoneOf,
)
from stores.position import FeedPosition

NON_ENTITY_KINDS: Final = ("event", "summary", "segment")
"""All kinds of memories except entities, which hold the current state."""

_ENTITY: Final = "entity"
_KINDS_OF_MOST: Final = frozenset({"event", "summary"})
"""The kinds of nearly all points."""
_LATEST: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TenantScope:
    """The tenant or user whose memories a request may access (docs/internals/architecture.md, invariant 4)."""

    tenant: str
    user: str | None = None
    """None: all users of the tenant, and memories that belong to no single user."""

    def __post_init__(self) -> None:
        if not self.tenant:
            raise ValueError("a tenant scope needs a tenant")
        if self.user == "":
            raise ValueError("a tenant scope's user is a name or None, not an empty text")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """The memories that a request may find. It requires a scope.

    Tombstones have no tenant and no owner, so the first condition already excludes them from every query, count, page and term statistic.
    """

    scope: TenantScope
    ids: tuple[str, ...] | None = None
    """Only points with these ids. None: any."""
    kinds: tuple[str, ...] = ()
    """Only memories of these kinds: ``event``, ``entity``, ``summary``, ``segment``. Empty: any."""
    types: tuple[str, ...] = ()
    """Only memories of these event or entity types. Empty: any."""
    sessions: tuple[str, ...] = ()
    """Only memories of these sessions. Empty: any. An entity belongs to no session, unless it is grouped by the session."""
    keys: tuple[str, ...] = ()
    """Only entities with one of these keys (:func:`memory.keys.entity_key`), their summaries, and the events that updated such an entity.
    Empty: any."""
    messages: tuple[str, ...] = ()
    """Only memories with one of these source messages; never entities. Empty: any."""
    parents: tuple[str, ...] = ()
    """Only nodes of trees with one of these parents; :data:`stores.collection.TOP`: those at the top of a tree. Empty: any memory."""
    since: datetime | None = None
    """Only memories that may have happened at this time or later."""
    until: datetime | None = None
    """Only memories that may have happened before this time."""
    time_is: datetime | None = None
    """Only memories with exactly this time, or with it as the beginning or the end of their period."""
    as_of: datetime | None = None
    """Only memories that may have happened at this time or before; never entities, which hold the current state."""
    generation: str | None = ""
    """Only memories of this generation. Empty text: the live one. None: any."""
    not_expired_at: datetime | None = None
    """Excludes memories that have expired by this time."""
    min_trust: MinTrust | None = None
    """Only memories whose sources have at least this level of trust. None: any."""
    at: tuple[FeedPosition, ...] = ()
    """Only memories from feed records at one of these positions, or before it in its partition. Empty: any."""
    steps_of: str | None = None
    """Only the history steps of this entity. None: only memories."""
    all_steps: bool = False
    """Only the history steps of all entities of the tenant."""
    has_steps: bool = False
    """Passes the history steps of the whole tenant, too: for deletions, not for queries. A scope with a user passes none."""

    def __post_init__(self) -> None:
        if not isinstance(self.scope, TenantScope):
            raise TypeError(f"a request to a store needs a TenantScope as its scope, got {self.scope!r}")
        for name in ("since", "until", "time_is", "as_of", "not_expired_at"):
            moment: datetime | None = getattr(self, name)
            if moment is not None and moment.tzinfo is None:
                raise ValueError(f"{name} needs a time zone, got {moment.isoformat()}; add one, for example UTC")

    @classmethod
    def everything(cls, scope: TenantScope, *, at: Iterable[FeedPosition] = ()) -> Self:
        """All memories of a scope, of any generation."""
        return cls(scope=scope, generation=None, at=tuple(at))

    @property
    def passes_nothing(self) -> bool:
        """Whether only entities were requested, and none of them passes."""
        return self.as_of is not None and {*self.kinds} == {_ENTITY}

    @property
    def without_entities(self) -> Self | None:
        """The filter for the other kinds; None if it passes only entities."""
        kinds = tuple(each for each in self.kinds or NON_ENTITY_KINDS if each != _ENTITY)
        return replace(self, kinds=kinds) if kinds else None

    @property
    def whole_tenant(self) -> Self:
        """All of the tenant's points, at the filter's positions: the population of the term statistics."""
        return self.everything(TenantScope(self.scope.tenant), at=self.at)

    @property
    def without_liveness(self) -> Self:
        """The filter without the conditions that nearly every point of a tenant passes.

        These are: of the live generation, not expired, and not after the requested positions. Checking them for each point of a large
        tenant takes an engine several times as long as comparing the vectors.
        """
        return replace(self, generation=self.generation or None, not_expired_at=None, at=())

    @property
    def of_other_kinds_too(self) -> Self:
        """The filter without the condition on kinds, if that condition excludes few points: segments, or entities (about one in fifty)."""
        if self.as_of is not None or not self._needs_kind_condition or not {*self.kinds} >= _KINDS_OF_MOST:
            return self
        return replace(self, kinds=() if self.scope.user is None or _ENTITY in self.kinds else NON_ENTITY_KINDS)

    def within(self, ids: Iterable[str]) -> Self:
        """The filter, narrowed to points with these ids."""
        return replace(self, ids=tuple(each for each in ids if self.ids is None or each in self.ids))

    def conditions(self) -> Iterator[Condition]:
        """The conditions, which must all hold. The first one restricts the tenant, or the tenant and the user."""
        yield from self._owner_conditions()
        if self.passes_nothing:
            yield HasId(())
        if self.ids is not None:
            yield HasId(self.ids)
        kinds = self._passing_kinds if self._needs_kind_condition else ()
        named = {
            KIND: kinds,
            TYPE: self.types,
            SESSION: self.sessions,
            ENTITY_KEYS: self.keys,
            MESSAGES: self.messages,
            PARENT: self.parents,
        }
        for field, values in named.items():
            if values:
                yield MatchAny(field, values)
        yield from self._time_conditions()
        if self.generation is not None:
            yield MatchAny(GENERATION, (self.generation,))
        if self.not_expired_at is not None:
            yield MissingOrAfter(EXPIRES_AT, iso_time(self.not_expired_at))
        if self.min_trust == "trusted":
            yield MatchAny(TRUST, ("trusted",))
        elif self.min_trust is not None:
            yield NoneOf(TRUST, ("untrusted", "distrusted"))
        if self.at:
            yield AnyOf(tuple((Equals(FEED_PARTITION, each.partition), AtOrBelow(FEED_OFFSET, each.offset)) for each in self.at))

    def _owner_conditions(self) -> Iterator[Condition]:
        tenant, user = self.scope.tenant, self.scope.user
        if self.steps_of is not None:
            yield MatchAny(STEP_TENANT, (tenant,))
            yield MatchAny(STEP_OF, (self.steps_of,))
        elif self.all_steps:
            yield MatchAny(STEP_TENANT, (tenant,))
        elif user is None and self.has_steps:
            yield AnyOf(tuple((MatchAny(field, (tenant,)),) for field in (TENANT, STEP_TENANT)))
        elif user is None:
            yield MatchAny(TENANT, (tenant,))
        if user is not None:
            yield MatchAny(OWNER, tuple(owner_of(tenant, user, of_entity=each) for each in self._owner_kinds))

    def _time_conditions(self) -> Iterator[Condition]:
        if self.time_is is not None:
            yield DatetimeRange(EVENT_TIME, iso_time(self.time_is), iso_time(self.time_is + timedelta.resolution))
        if self.since is not None:
            yield DatetimeRange(EVENT_TIME, iso_time(self.since), None)
        if (end := self._end) is not None:
            yield DatetimeRange(EVENT_TIME, None, iso_time(end))

    def rejected_by(self, memory: Memory) -> str | None:
        """The first field that excludes a memory of the tenant; None if the memory passes all fields except :attr:`at`.

        Args:
            memory: A memory of the filter's tenant. It does not contain its feed position.
        """
        time = memory.event_time
        passes: dict[str, bool] = {
            "user": self.scope.user is None or memory.user == self.scope.user,
            "generation": self.generation is None or memory.generation == self.generation,
            "kinds": not self.kinds or memory.kind in self.kinds,
            "types": not self.types or memory.type in self.types,
            "sessions": not self.sessions or memory.session in self.sessions,
            "keys": not self.keys or not set(self.keys).isdisjoint(keys_of(memory)),
            "parents": not self.parents or parent_of(memory) in self.parents,
            "since": self.since is None or last_moment(time, memory.date) >= self.since,
            "as_of": self.as_of is None or (time <= self.as_of and memory.kind != _ENTITY),
            "until": self.until is None or time < self.until,
            "time_is": self.time_is is None or self.time_is in (time, last_moment(time, memory.date)),
            "min_trust": self.min_trust is None or at_least(memory.trust or "normal", self.min_trust),
            "not_expired_at": self.not_expired_at is None or memory.expires_at is None or memory.expires_at > self.not_expired_at,
        }
        return next((name for name, does_pass in passes.items() if not does_pass), None)

    @property
    def _passing_kinds(self) -> tuple[str, ...]:
        """The kinds that can pass. Empty: any."""
        return self.kinds if self.as_of is None else tuple(each for each in self.kinds or NON_ENTITY_KINDS if each != _ENTITY)

    @property
    def _end(self) -> datetime | None:
        """The time before which a memory may have happened: the smaller of :attr:`until` and just after :attr:`as_of`."""
        if self.as_of is None:
            return self.until
        end = self.as_of + min(timedelta.resolution, _LATEST - self.as_of)
        return end if self.until is None else min(self.until, end)

    @property
    def _owner_kinds(self) -> tuple[bool, ...]:
        """False if it may pass non-entities, and True if it may pass entities: the values of ``of_entity`` for :func:`owner_of`."""
        kinds = {*self._passing_kinds}
        return tuple(
            each for each, may_pass in ((False, not kinds or kinds != {_ENTITY}), (True, not kinds or _ENTITY in kinds)) if may_pass
        )

    @property
    def _needs_kind_condition(self) -> bool:
        """Whether the condition on the owner does not already imply the kinds."""
        kinds = {*self._passing_kinds}
        return bool(kinds) and (self.scope.user is None or not (kinds <= {_ENTITY} or kinds >= {*NON_ENTITY_KINDS}))


@dataclass(frozen=True, slots=True)
class TombstoneFilter:
    """Passes the tombstones that were written before a moment, and no memory."""

    before: datetime

    def conditions(self) -> Iterator[Condition]:
        """The one condition."""
        yield DatetimeRange(DELETED_AT, None, iso_time(self.before))


@dataclass(frozen=True, slots=True)
class AllOfTenantFilter:
    """Passes all points of a tenant, including its tombstones and the steps of its entities: to move them, not to answer a query."""

    tenant: str

    def conditions(self) -> Iterator[Condition]:
        """The one condition."""
        yield AnyOf(tuple((MatchAny(field, (self.tenant,)),) for field in (TENANT, STEP_TENANT, DELETED_TENANT)))


def owner_of(tenant: str, user: str, *, of_entity: bool) -> str:
    """The field :data:`~stores.collection.OWNER` of a user's point. It is unique per tenant and user.

    Args:
        tenant: The tenant.
        user: The user.
        of_entity: Whether the point is an entity.
    """
    return encode_key(tenant, user, *([_ENTITY] if of_entity else [])).decode()


def keys_of(memory: Memory) -> list[str]:
    """The field :data:`~stores.collection.ENTITY_KEYS` of a memory."""
    return (memory.entity_keys or []) if memory.entity_key is None else [memory.entity_key]


def parent_of(memory: Memory) -> str | None:
    """The field :data:`~stores.collection.PARENT` of a memory; None if it is no node of a tree."""
    return None if memory.depth is None else memory.parent or TOP


def iso_time(moment: datetime) -> str:
    """A moment in the format of both engines: ISO 8601 in UTC.

    Raises:
        ValueError: If it has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone; add one, for example UTC")
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
