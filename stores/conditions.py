"""What a stored point must be like to pass a filter, independent of the engine."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MatchAny:
    """The field has one of these values."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DatetimeRange:
    """The time lies in ``[since, until)``; None leaves an end open. Times are ISO 8601 text."""

    field: str
    since: str | None
    until: str | None


@dataclass(frozen=True, slots=True)
class MissingOrAfter:
    """The point has no such time, or one after this moment."""

    field: str
    moment: str


@dataclass(frozen=True, slots=True)
class AtOrBelow:
    """The field's whole number is this one, or less."""

    field: str
    number: int


@dataclass(frozen=True, slots=True)
class Equals:
    """The field's whole number is this one."""

    field: str
    number: int


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of these groups of conditions holds whole."""

    groups: "tuple[tuple[Condition, ...], ...]"


@dataclass(frozen=True, slots=True)
class HasId:
    """The point's id is one of these."""

    ids: tuple[str, ...]


Condition = MatchAny | DatetimeRange | MissingOrAfter | AtOrBelow | Equals | AnyOf | HasId
