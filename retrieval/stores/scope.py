"""Whose memories a request may touch, and the one filter that holds it there (docs/architecture.md, invariant 4)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Self

TENANT: Final = "tenant"
USER: Final = "user"
KIND: Final = "kind"
TYPE: Final = "type"
EVENT_TIME: Final = "event_time"
EXPIRES_AT: Final = "expires_at"
GENERATION: Final = "generation"


@dataclass(frozen=True, slots=True)
class TenantScope:
    """Whose memories a request may touch: the only door to a store."""

    tenant: str
    user: str | None = None
    """None: all of the tenant's users, and what belongs to no single user."""

    def __post_init__(self) -> None:
        if not self.tenant:
            raise ValueError("a tenant scope needs a tenant")
        if self.user == "":
            raise ValueError("a tenant scope's user is a name or None, not an empty text")


@dataclass(frozen=True, slots=True)
class OneOf:
    """A field has one of these values."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """A time lies in ``[since, until)``; an end that is None is open. Times are ISO 8601 text."""

    field: str
    since: str | None
    until: str | None


@dataclass(frozen=True, slots=True)
class NotUpTo:
    """A time, where a point has one, lies behind this moment."""

    field: str
    moment: str


@dataclass(frozen=True, slots=True)
class IdIn:
    """The point's id is one of these."""

    ids: tuple[str, ...]


Condition = OneOf | Between | NotUpTo | IdIn


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantFilter:
    """The filter of every request to a store, in no engine's own words. It is built from a scope or not at all."""

    scope: TenantScope
    ids: tuple[str, ...] | None = None
    """Only points of these ids; None: of any."""
    kinds: tuple[str, ...] = ()
    """Only memories of these kinds; empty: of any."""
    types: tuple[str, ...] = ()
    """Only memories of these event or entity types; empty: of any."""
    since: datetime | None = None
    """Only memories whose event time is not before this one."""
    until: datetime | None = None
    """Only memories whose event time is before this one."""
    generation: str | None = None
    """Only memories of this generation (empty text: the live one); None: of any."""
    alive_at: datetime | None = None
    """Without the memories that have expired by then."""

    @property
    def whole_tenant(self) -> "TenantFilter":
        """All of the tenant's points: the population that term statistics are taken over."""
        return TenantFilter(scope=TenantScope(self.scope.tenant))

    def within(self, ids: Iterable[str]) -> "TenantFilter":
        """The same filter, narrowed to points of these ids."""
        return replace(self, ids=tuple(each for each in ids if self.ids is None or each in self.ids))

    def conditions(self) -> Iterator[Condition]:
        """All that must hold; the tenant's condition is always the first.

        Raises:
            ValueError: If a time has no zone.
        """
        yield OneOf(TENANT, (self.scope.tenant,))
        if self.scope.user is not None:
            yield OneOf(USER, (self.scope.user,))
        if self.ids is not None:
            yield IdIn(self.ids)
        if self.kinds:
            yield OneOf(KIND, self.kinds)
        if self.types:
            yield OneOf(TYPE, self.types)
        if self.since is not None or self.until is not None:
            yield Between(EVENT_TIME, _iso_time(self.since), _iso_time(self.until))
        if self.generation is not None:
            yield OneOf(GENERATION, (self.generation,))
        if self.alive_at is not None:
            yield NotUpTo(EXPIRES_AT, iso_time(self.alive_at))

    def to_wire(self) -> dict[str, Any]:
        """Plain JSON, for the way to the process that owns the store."""
        return {
            "tenant": self.scope.tenant,
            "user": self.scope.user,
            "ids": self.ids,
            "kinds": self.kinds,
            "types": self.types,
            "since": _iso_time(self.since),
            "until": _iso_time(self.until),
            "generation": self.generation,
            "alive_at": _iso_time(self.alive_at),
        }

    @classmethod
    def from_wire(cls, wire: dict[str, Any]) -> Self:
        """Reads what :meth:`to_wire` wrote.

        Raises:
            ValueError: If it names no tenant, or something is not as it was written.
        """
        try:
            return cls(
                scope=TenantScope(wire["tenant"], wire["user"]),
                ids=None if wire["ids"] is None else tuple(wire["ids"]),
                kinds=tuple(wire["kinds"]),
                types=tuple(wire["types"]),
                since=_moment(wire["since"]),
                until=_moment(wire["until"]),
                generation=wire["generation"],
                alive_at=_moment(wire["alive_at"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a tenant filter: {error}") from error


def iso_time(moment: datetime) -> str:
    """A moment as both engines take it: ISO 8601 in UTC.

    Raises:
        ValueError: If it has no zone.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone; add one, for example UTC")
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _iso_time(moment: datetime | None) -> str | None:
    return None if moment is None else iso_time(moment)


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
