"""Conditions of a filter on stored points, independent of the engine."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MatchAny:
    """The field has one of these values."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DatetimeRange:
    """The time is in ``[since, until)``. None: that side is open. Times are ISO 8601 text."""

    field: str
    since: str | None
    until: str | None


@dataclass(frozen=True, slots=True)
class MissingOrAfter:
    """The point lacks the time, or its time is after the moment."""

    field: str
    moment: str


@dataclass(frozen=True, slots=True)
class AtOrBelow:
    """The field's integer is at most this number."""

    field: str
    number: int


@dataclass(frozen=True, slots=True)
class Equals:
    """The field's integer equals this number."""

    field: str
    number: int


@dataclass(frozen=True, slots=True)
class AnyOf:
    """All conditions of at least one group hold."""

    groups: "tuple[tuple[Condition, ...], ...]"


@dataclass(frozen=True, slots=True)
class HasId:
    """The point's id is one of these."""

    ids: tuple[str, ...]


Condition = MatchAny | DatetimeRange | MissingOrAfter | AtOrBelow | Equals | AnyOf | HasId
