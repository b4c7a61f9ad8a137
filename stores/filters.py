"""The filter that restricts every request to its tenant (docs/internals/architecture.md, invariant 4), independent of the engine."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Self

from memory.keys import encode_key
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
    SESSION,
    STEP_OF,
    STEP_TENANT,
    TENANT,
    TYPE,
)
from stores.conditions import AnyOf, AtOrBelow, Condition, DatetimeRange, Equals, HasId, MatchAny, MissingOrAfter
from stores.port import NON_ENTITY_KINDS, TenantScope
from stores.position import FeedPosition


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


_ENTITY: Final = "entity"
_KINDS_OF_MOST: Final = frozenset({"event", "summary"})
"""The kinds of nearly all points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantFilter:
    """The filter of every request to a store. It requires a scope.

    Tombstones have no tenant and no owner, so the first condition already excludes them from every query, count, page and term statistic.
    """

    scope: TenantScope
    ids: tuple[str, ...] | None = None
    """Only points with these ids. None: any."""
    kinds: tuple[str, ...] = ()
    """Only memories of these kinds. Empty: any."""
    types: tuple[str, ...] = ()
    """Only memories of these event or entity types. Empty: any."""
    sessions: tuple[str, ...] = ()
    """Only memories of these sessions. Empty: any."""
    keys: tuple[str, ...] = ()
    """Only entities with one of these keys, their summaries, and the events that updated such an entity. Empty: any."""
    messages: tuple[str, ...] = ()
    """Only memories with one of these source messages; never entities. Empty: any."""
    since: datetime | None = None
    """Only memories that may have happened at this time or later."""
    until: datetime | None = None
    """Only memories that may have happened before this time."""
    generation: str | None = None
    """Only memories of this generation (empty text: the live one). None: any."""
    not_expired_at: datetime | None = None
    """Excludes memories that have expired by this time."""
    at: tuple[FeedPosition, ...] = ()
    """Only memories from feed records at one of these positions, or before it in its partition. Empty: any."""
    steps_of: str | None = None
    """Only the history steps of this entity. None: only memories."""
    has_steps: bool = False
    """Passes the history steps of the whole tenant, too: for deletions, not for queries. A scope with a user passes none."""

    def __post_init__(self) -> None:
        if not isinstance(self.scope, TenantScope):
            raise TypeError(f"a request to a store needs a TenantScope as its scope, got {self.scope!r}")

    @property
    def whole_tenant(self) -> "TenantFilter":
        """All of the tenant's points, at the filter's positions: the population of the term statistics."""
        return TenantFilter(scope=TenantScope(self.scope.tenant), at=self.at)

    @property
    def owners(self) -> "TenantFilter":
        """All points of the filter's tenant, or of its user if it has one."""
        return TenantFilter(scope=self.scope)

    @property
    def without_liveness(self) -> "TenantFilter":
        """The filter without the conditions that nearly every point of a tenant passes.

        These are: of the live generation, not expired, and not after the requested positions. Checking them for each point of a large
        tenant takes an engine several times as long as comparing the vectors.
        """
        return replace(self, generation=self.generation or None, not_expired_at=None, at=())

    @property
    def of_other_kinds_too(self) -> "TenantFilter":
        """The filter without the condition on kinds, if that condition excludes few points: segments, or entities (about one in fifty)."""
        if not self._needs_kind_condition or not {*self.kinds} >= _KINDS_OF_MOST:
            return self
        return replace(self, kinds=() if self.scope.user is None or _ENTITY in self.kinds else NON_ENTITY_KINDS)

    def within(self, ids: Iterable[str]) -> "TenantFilter":
        """The filter, narrowed to points with these ids."""
        return replace(self, ids=tuple(each for each in ids if self.ids is None or each in self.ids))

    def conditions(self) -> Iterator[Condition]:
        """The conditions, which must all hold. The first one restricts the tenant, or the tenant and the user.

        Raises:
            ValueError: If a time has no time zone.
        """
        tenant, user = self.scope.tenant, self.scope.user
        if self.steps_of is not None:
            yield MatchAny(STEP_TENANT, (tenant,))
            yield MatchAny(STEP_OF, (self.steps_of,))
        elif user is None and self.has_steps:
            yield AnyOf(tuple((MatchAny(field, (tenant,)),) for field in (TENANT, STEP_TENANT)))
        elif user is None:
            yield MatchAny(TENANT, (tenant,))
        if user is not None:
            yield MatchAny(OWNER, tuple(owner_of(tenant, user, of_entity=each) for each in self._owner_kinds))
        if self.ids is not None:
            yield HasId(self.ids)
        if self._needs_kind_condition:
            yield MatchAny(KIND, self.kinds)
        if self.types:
            yield MatchAny(TYPE, self.types)
        if self.sessions:
            yield MatchAny(SESSION, self.sessions)
        if self.keys:
            yield MatchAny(ENTITY_KEYS, self.keys)
        if self.messages:
            yield MatchAny(MESSAGES, self.messages)
        if self.since is not None:
            yield DatetimeRange(EVENT_TIME, iso_time(self.since), None)
        if self.until is not None:
            yield DatetimeRange(EVENT_TIME, None, iso_time(self.until))
        if self.generation is not None:
            yield MatchAny(GENERATION, (self.generation,))
        if self.not_expired_at is not None:
            yield MissingOrAfter(EXPIRES_AT, iso_time(self.not_expired_at))
        if self.at:
            yield AnyOf(tuple((Equals(FEED_PARTITION, each.partition), AtOrBelow(FEED_OFFSET, each.offset)) for each in self.at))

    @property
    def _owner_kinds(self) -> tuple[bool, ...]:
        """False if it may pass non-entities, and True if it may pass entities: the values of ``of_entity`` for :func:`owner_of`."""
        kinds = {*self.kinds}
        return tuple(
            each for each, may_pass in ((False, not kinds or kinds != {_ENTITY}), (True, not kinds or _ENTITY in kinds)) if may_pass
        )

    @property
    def _needs_kind_condition(self) -> bool:
        """Whether the condition on the owner does not already imply the kinds."""
        kinds = {*self.kinds}
        return bool(kinds) and (self.scope.user is None or not (kinds <= {_ENTITY} or kinds >= {*NON_ENTITY_KINDS}))

    def to_json(self) -> dict[str, Any]:
        """The filter as JSON values, for the Edge owner's protocol."""
        return {
            "tenant": self.scope.tenant,
            "user": self.scope.user,
            "ids": self.ids,
            "kinds": self.kinds,
            "types": self.types,
            "sessions": self.sessions,
            "keys": self.keys,
            "messages": self.messages,
            "since": _optional_iso_time(self.since),
            "until": _optional_iso_time(self.until),
            "generation": self.generation,
            "not_expired_at": _optional_iso_time(self.not_expired_at),
            "at": [(each.partition, each.offset) for each in self.at],
            "steps_of": self.steps_of,
            "has_steps": self.has_steps,
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        """Reads the result of :meth:`to_json`.

        Raises:
            ValueError: If a field is missing or has another type, or there is no tenant.
        """
        try:
            return cls(
                scope=TenantScope(fields["tenant"], fields["user"]),
                ids=None if fields["ids"] is None else tuple(fields["ids"]),
                kinds=tuple(fields["kinds"]),
                types=tuple(fields["types"]),
                sessions=tuple(fields["sessions"]),
                keys=tuple(fields["keys"]),
                messages=tuple(fields["messages"]),
                since=_optional_time(fields["since"]),
                until=_optional_time(fields["until"]),
                generation=fields["generation"],
                not_expired_at=_optional_time(fields["not_expired_at"]),
                at=tuple(FeedPosition(partition, offset) for partition, offset in fields["at"]),
                steps_of=fields["steps_of"],
                has_steps=fields["has_steps"],
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a tenant filter: {error}") from error


def owner_of(tenant: str, user: str, *, of_entity: bool) -> str:
    """The field :data:`~stores.collection.OWNER` of a user's point. It is unique per tenant and user.

    Args:
        tenant: The tenant.
        user: The user.
        of_entity: Whether the point is an entity.
    """
    return encode_key(tenant, user, *([_ENTITY] if of_entity else [])).decode()


def iso_time(moment: datetime) -> str:
    """A moment in the format of both engines: ISO 8601 in UTC.

    Raises:
        ValueError: If it has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone; add one, for example UTC")
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _optional_iso_time(moment: datetime | None) -> str | None:
    return None if moment is None else iso_time(moment)


def _optional_time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
