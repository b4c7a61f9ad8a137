"""SUM, COUNT, AVG, MAX and MIN (VikingMem 3.2), and RATE: additions to small states that can be retracted exactly, in any order."""

from bisect import bisect_left
from fractions import Fraction
from typing import Any, ClassVar, cast

from memory.schema.operator_specs import OperatorSpec, built_in
from memory.schema.time_window import TimeUnit, TimeWindow
from operators.aggregates import exact_sum
from operators.aggregates.exact_sum import ExactSum
from operators.operator import AdditiveOperator, BoundedOperator, Configuration, Operand, State, UnknownValue


class Count(AdditiveOperator):
    """Number of events."""

    spec: ClassVar[OperatorSpec] = built_in("COUNT")

    def add(self, state: int | None, operand: Operand, times: int) -> int | None:
        """See :meth:`AdditiveOperator.add`; takes any event."""
        return ((state or 0) + times) or None

    def merge(self, one: int, other: int) -> int | None:
        """See :meth:`MergeableOperator.merge`."""
        return (one + other) or None

    def value(self, state: int) -> int | float | None:
        """The number of events."""
        return state


class Rate(Count):
    """Number of events in a unit of time, averaged over the time window."""

    spec: ClassVar[OperatorSpec] = built_in("RATE")

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        per = TimeWindow(1, cast(TimeUnit, configuration.parameters["Per"]))
        if configuration.window is None:
            raise ValueError("a rate needs a time window")
        self._units = Fraction(configuration.window.microseconds, per.microseconds)

    def value(self, state: int) -> float:
        """Events in a unit of time."""
        return float(state / self._units)


class Sum(AdditiveOperator):
    """The exact sum."""

    spec: ClassVar[OperatorSpec] = built_in("SUM")

    def add(self, state: ExactSum | None, operand: Operand, times: int) -> ExactSum | None:
        """See :meth:`AdditiveOperator.add`; takes numbers."""
        return exact_sum.add(state, exact_sum.as_number(operand.value), times)

    def merge(self, one: ExactSum, other: ExactSum) -> ExactSum | None:
        """See :meth:`MergeableOperator.merge`."""
        return exact_sum.merged(one, other)

    def value(self, state: ExactSum) -> int | float | UnknownValue | None:
        """The sum, rounded once; unknown beyond the range of doubles."""
        if not exact_sum.count_of(state):
            return None
        result = exact_sum.rounded(exact_sum.fraction_of(state))
        return UnknownValue.UNKNOWN if result is None else result


class Avg(Sum):
    """The exact mean."""

    spec: ClassVar[OperatorSpec] = built_in("AVG")

    def value(self, state: ExactSum) -> float | None:
        """The mean, rounded once; the mean of doubles is always in their range."""
        count = exact_sum.count_of(state)
        return float(exact_sum.fraction_of(state) / count) if count else None


class Extreme(BoundedOperator):
    """The largest or smallest number.

    Keeps the best distinct numbers with their counts, and of all others only their exact sum and the best of them. Every kept number is
    better than every dropped one, so the best kept one is the answer. When retractions have used up the kept ones and others are left, the
    answer is unknown: never a wrong number.
    """

    default_capacity: ClassVar[int] = 32
    least_capacity: ClassVar[int] = 8
    sign: ClassVar[int]
    """1: the largest number is wanted; -1: the smallest."""

    def add(self, state: State | None, operand: Operand, times: int) -> State | None:
        """See :meth:`AdditiveOperator.add`; takes numbers."""
        number = exact_sum.as_number(operand.value)
        kept, dropped, best_dropped = state or ([], None, None)
        if best_dropped is not None and self._rank(number) >= self._rank(best_dropped):
            return self._state(kept, exact_sum.add(dropped, number, times), best_dropped)
        return self._state(self._with(kept, number, times), dropped, best_dropped)

    def merge(self, one: State, other: State) -> State | None:
        """See :meth:`MergeableOperator.merge`."""
        limits = [best for _, dropped, best in (one, other) if dropped is not None]
        best_dropped = min(limits, key=self._rank, default=None)
        dropped = exact_sum.merged(one[1], other[1])
        kept: list[list[Any]] = []
        for number, count in [*one[0], *other[0]]:
            if best_dropped is not None and self._rank(number) >= self._rank(best_dropped):
                dropped = exact_sum.add(dropped, number, count)
            else:
                kept = self._with(kept, number, count)
        return self._state(kept, dropped, best_dropped)

    def value(self, state: State) -> int | float | UnknownValue | None:
        """The best number; unknown if a dropped one could be better."""
        kept, dropped, _ = state
        best = next((number for number, count in kept if count > 0), None)
        return UnknownValue.UNKNOWN if best is None and dropped is not None else best

    def _state(self, kept: list[list[Any]], dropped: ExactSum | None, best_dropped: int | float | None) -> State | None:
        while len(kept) > self._capacity:
            best_dropped, count = kept[-1]
            kept = kept[:-1]
            dropped = exact_sum.add(dropped, best_dropped, count)
        return [kept, dropped, None if dropped is None else best_dropped] if kept or dropped else None

    def _rank(self, number: int | float) -> int | float:
        """Lower is better."""
        return -number * self.sign

    def _with(self, kept: list[list[Any]], number: int | float, times: int) -> list[list[Any]]:
        index = bisect_left(kept, self._rank(number), key=lambda pair: self._rank(pair[0]))
        found = index < len(kept) and kept[index][0] == number
        count = (kept[index][1] if found else 0) + times
        return [*kept[:index], *([[number, count]] if count else []), *kept[index + found :]]


class Max(Extreme):
    """The largest number."""

    spec: ClassVar[OperatorSpec] = built_in("MAX")
    sign: ClassVar[int] = 1


class Min(Extreme):
    """The smallest number."""

    spec: ClassVar[OperatorSpec] = built_in("MIN")
    sign: ClassVar[int] = -1
