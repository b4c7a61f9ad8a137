"""SUM, COUNT, AVG, MAX and MIN (VikingMem 3.2), as additions to small states that can be retracted.

A state is JSON, or None where nothing has been added. A value is read from any number of partial states at once. So a time window has one
state for each UTC day: a day that falls out of the window takes its state along, and the others need no merging.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final, Protocol

from memory.schema.model import Op
from operators import exact_sum
from operators.exact_sum import ExactSum

State = Any
"""An operator's state, as JSON carries it."""
Days = dict[str, Any]
"""The states of a time window, by day number (days since 1970-01-01 UTC)."""


class UnknownValue(Enum):
    """The value of a state that has dropped what it would take to tell it. It must be rebuilt from the log."""

    UNKNOWN = "unknown"


class Statistic(Protocol):
    """An operator over numbers whose additions can be retracted exactly, in any order."""

    def add(self, state: State | None, value: object, times: int) -> State | None:
        """Adds a value.

        Args:
            state: The state so far; it is not changed.
            value: What is added.
            times: How often; negative retracts.

        Returns:
            The new state; None once nothing is left.

        Raises:
            operators.errors.RefusedChangeError: If the value is not one that this operator takes, whatever the state.
        """
        ...

    def value(self, parts: Sequence[State]) -> int | float | UnknownValue | None:
        """The value of all partial states together; None if there is none."""
        ...


class Count:
    """How many events there were."""

    def add(self, state: int | None, value: object, times: int) -> int | None:
        """See :meth:`Statistic.add`; takes any value."""
        return ((state or 0) + times) or None

    def value(self, parts: Sequence[int]) -> int | None:
        """The number of events."""
        return sum(parts) or None


class Sum:
    """The exact sum."""

    def add(self, state: ExactSum | None, value: object, times: int) -> ExactSum | None:
        """See :meth:`Statistic.add`."""
        return exact_sum.add(state, exact_sum.as_number(value), times)

    def value(self, parts: Sequence[ExactSum]) -> int | float | UnknownValue | None:
        """The sum, rounded once; unknown beyond the range of doubles."""
        if not sum(map(exact_sum.count_of, parts)):
            return None
        result = exact_sum.rounded(sum(map(exact_sum.fraction_of, parts), Fraction()))
        return UnknownValue.UNKNOWN if result is None else result


class Avg(Sum):
    """The exact mean."""

    def value(self, parts: Sequence[ExactSum]) -> int | float | UnknownValue | None:
        """The mean, rounded once; the mean of doubles is always in their range."""
        count = sum(map(exact_sum.count_of, parts))
        return float(sum(map(exact_sum.fraction_of, parts), Fraction()) / count) if count else None


class Extreme:
    """The largest or smallest number.

    Keeps the best distinct numbers with their counts, and of all others only their exact sum and the best of them. Every kept number is
    better than every dropped one, so the best kept one is the answer. When retractions have used up the kept ones and others are left, the
    answer is unknown: never a wrong number.

    Args:
        largest: Whether it is the largest number, not the smallest.
        capacity: How many distinct numbers are kept.

    Raises:
        ValueError: If none would be kept.
    """

    def __init__(self, *, largest: bool, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"an extreme keeps at least one number, got a capacity of {capacity}")
        self._sign = 1 if largest else -1
        self._capacity = capacity

    def add(self, state: State | None, value: object, times: int) -> State | None:
        """See :meth:`Statistic.add`."""
        number = exact_sum.as_number(value)
        kept, dropped, best_dropped = state or ([], None, None)
        if best_dropped is not None and self._rank(number) >= self._rank(best_dropped):
            dropped = exact_sum.add(dropped, number, times)
        else:
            kept = self._with(kept, number, times)
            if len(kept) > self._capacity:
                best_dropped, count = kept.pop()
                dropped = exact_sum.add(dropped, best_dropped, count)
        if dropped is None:
            best_dropped = None
        return [kept, dropped, best_dropped] if kept or dropped else None

    def value(self, parts: Sequence[State]) -> int | float | UnknownValue | None:
        """The best number; unknown if a dropped one could be better."""
        candidates: list[int | float] = []
        limits: list[int | float] = []
        for kept, dropped, best_dropped in parts:
            best = next((number for number, count in kept if count > 0), None)
            if best is not None:
                candidates.append(best)
            elif dropped is not None:
                limits.append(best_dropped)
        best = min(candidates, key=self._rank, default=None)
        if any(best is None or self._rank(limit) < self._rank(best) for limit in limits):
            return UnknownValue.UNKNOWN
        return best

    def _rank(self, number: int | float) -> int | float:
        """Lower is better."""
        return -number * self._sign

    def _with(self, kept: list[list[Any]], number: int | float, times: int) -> list[list[Any]]:
        index = bisect_left(kept, self._rank(number), key=lambda pair: self._rank(pair[0]))
        found = index < len(kept) and kept[index][0] == number
        count = (kept[index][1] if found else 0) + times
        return [*kept[:index], *([[number, count]] if count else []), *kept[index + found :]]


_CAPACITY: Final = 32
_CAPACITY_PER_DAY: Final = 8

STATISTICS: Final[Mapping[Op, Statistic]] = MappingProxyType(
    {
        "COUNT": Count(),
        "SUM": Sum(),
        "AVG": Avg(),
        "MAX": Extreme(largest=True, capacity=_CAPACITY),
        "MIN": Extreme(largest=False, capacity=_CAPACITY),
    }
)

DAILY_STATISTICS: Final[Mapping[Op, Statistic]] = MappingProxyType(
    {
        **STATISTICS,
        "MAX": Extreme(largest=True, capacity=_CAPACITY_PER_DAY),
        "MIN": Extreme(largest=False, capacity=_CAPACITY_PER_DAY),
    }
)
"""The same for the state of one day of a time window."""


def add_on_day(statistic: Statistic, days: Days | None, value: object, times: int, *, day: int, newest: int, length: int) -> Days | None:
    """Adds a value to the state of its day, and drops the days that have fallen out of the time window.

    Args:
        statistic: The operator.
        days: The states so far; they are not changed.
        value: See :meth:`Statistic.add`.
        times: How often; negative retracts.
        day: The value's day. Outside the window it changes nothing: its day is gone for good, since the newest day never goes back.
        newest: The newest day of the entity, at least ``day``.
        length: How many days the window has.

    Returns:
        The days left, at most ``length``; None if there is none.

    Raises:
        operators.errors.RefusedChangeError: See :meth:`Statistic.add`; also for a day outside the window.
    """
    inside = days_inside(days or {}, newest=newest, length=length)
    if _is_inside(day, newest, length):
        state = statistic.add(inside.pop(str(day), None), value, times)
        if state is not None:
            inside[str(day)] = state
    else:
        statistic.add(None, value, times)
    return inside or None


def days_inside(days: Days, *, newest: int, length: int) -> Days:
    """The days that are in the time window.

    Args:
        days: The states by day; they are not changed.
        newest: The newest day of the entity.
        length: How many days the window has.
    """
    return {name: state for name, state in days.items() if _is_inside(int(name), newest, length)}


def _is_inside(day: int, newest: int, length: int) -> bool:
    return newest - length < day
