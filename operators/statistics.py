"""SUM, COUNT, AVG, MAX and MIN (VikingMem 3.2, the statistical operators), as invertible additions to small states.

A state is JSON, or None where nothing has been added. A value is read from any number of partial states at once, so that the days of a
time window need no merging.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final, Protocol

from memory.schema.model import Op
from operators import tally

State = Any
"""An operator's state, as JSON carries it."""


class Unknown(Enum):
    """The value of a state that has forgotten what it would take to know it: it must be rebuilt from the log."""

    UNKNOWN = "unknown"


class Statistic(Protocol):
    """An operator over numbers whose additions can be taken back exactly, in any order."""

    def add(self, state: State | None, value: object, times: int) -> State | None:
        """Adds a value so many times (taken back if negative); None once nothing is left. The state given is not changed.

        Raises:
            operators.errors.RefusedChangeError: If the value is not one that this operator takes, whatever the state.
        """
        ...

    def value(self, parts: Sequence[State]) -> int | float | Unknown | None:
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

    def add(self, state: tally.Tally | None, value: object, times: int) -> tally.Tally | None:
        """See :meth:`Statistic.add`."""
        return tally.add(state, tally.number_of(value), times)

    def value(self, parts: Sequence[tally.Tally]) -> int | float | Unknown | None:
        """The sum, rounded once; unknown beyond the range of doubles."""
        if not sum(map(tally.count_of, parts)):
            return None
        result = tally.rounded(sum(map(tally.sum_of, parts), Fraction()))
        return Unknown.UNKNOWN if result is None else result


class Avg(Sum):
    """The exact mean."""

    def value(self, parts: Sequence[tally.Tally]) -> int | float | Unknown | None:
        """The mean, rounded once; the mean of doubles is always in their range."""
        count = sum(map(tally.count_of, parts))
        return float(sum(map(tally.sum_of, parts), Fraction()) / count) if count else None


class Extreme:
    """The largest or smallest number.

    Keeps the ``room`` best distinct numbers with their counts, and of all others only a tally and the best of them: the *floor*. Every
    number better than the floor is kept, so the best kept one is the answer. When retractions have taken all kept ones and others are
    left, the answer is unknown: never a wrong number.
    """

    def __init__(self, *, largest: bool, room: int) -> None:
        if room < 1:
            raise ValueError(f"an extreme needs room for at least one number, got {room}")
        self._towards = 1 if largest else -1
        self._room = room

    def add(self, state: State | None, value: object, times: int) -> State | None:
        """See :meth:`Statistic.add`."""
        number = tally.number_of(value)
        kept, others, floor = state or ([], None, None)
        if floor is not None and self._rank(number) >= self._rank(floor):
            others = tally.add(others, number, times)
        else:
            kept = self._added(kept, number, times)
            if len(kept) > self._room:
                floor, count = kept.pop()
                others = tally.add(others, floor, count)
        if others is None:
            floor = None
        return [kept, others, floor] if kept or others else None

    def value(self, parts: Sequence[State]) -> int | float | Unknown | None:
        """The best number; unknown if a forgotten one could be better."""
        known: list[int | float] = []
        forgotten: list[int | float] = []
        for kept, others, floor in parts:
            best = next((number for number, count in kept if count > 0), None)
            if best is not None:
                known.append(best)
            elif others is not None:
                forgotten.append(floor)
        best = min(known, key=self._rank, default=None)
        if any(best is None or self._rank(floor) < self._rank(best) for floor in forgotten):
            return Unknown.UNKNOWN
        return best

    def _rank(self, number: int | float) -> int | float:
        """Lower is better."""
        return -number * self._towards

    def _added(self, kept: list[list[Any]], number: int | float, times: int) -> list[list[Any]]:
        place = bisect_left(kept, self._rank(number), key=lambda pair: self._rank(pair[0]))
        is_there = place < len(kept) and kept[place][0] == number
        count = (kept[place][1] if is_there else 0) + times
        return [*kept[:place], *([[number, count]] if count else []), *kept[place + is_there :]]


_ROOM: Final = 32
_ROOM_A_DAY: Final = 8

STATISTICS: Final[Mapping[Op, Statistic]] = MappingProxyType(
    {"COUNT": Count(), "SUM": Sum(), "AVG": Avg(), "MAX": Extreme(largest=True, room=_ROOM), "MIN": Extreme(largest=False, room=_ROOM)}
)

DAILY_STATISTICS: Final[Mapping[Op, Statistic]] = MappingProxyType(
    {**STATISTICS, "MAX": Extreme(largest=True, room=_ROOM_A_DAY), "MIN": Extreme(largest=False, room=_ROOM_A_DAY)}
)
"""The same for the state of one day of a time window."""
