"""SPREAD: the standard deviation of a number."""

from math import sqrt
from typing import ClassVar

from operators.plugin_api import AdditiveOperator, Operand, OperatorSpec, State, exact_sum


class Spread(AdditiveOperator):
    """The population's standard deviation, from the exact sums of the numbers and of their squares."""

    spec: ClassVar[OperatorSpec] = OperatorSpec(name="SPREAD", input="number", gives=lambda source: ("float32",))

    def add(self, state: State | None, operand: Operand, times: int) -> State | None:
        """Applies an event ``times`` times; -1 retracts it."""
        number = exact_sum.as_number(operand.value)
        sums, squares = state or (None, None)
        changed = [exact_sum.add(sums, number, times), exact_sum.add(squares, number * number, times)]
        return None if changed == [None, None] else changed

    def merge(self, one: State, other: State) -> State | None:
        """The state over the events of both."""
        merged = [exact_sum.merged(mine, theirs) for mine, theirs in zip(one, other, strict=True)]
        return None if merged == [None, None] else merged

    def value(self, state: State) -> float | None:
        """The property's value; None without an event."""
        sums, squares = state
        count = exact_sum.count_of(squares) if squares else 0
        if count <= 0:
            return None
        mean = exact_sum.fraction_of(sums) / count if sums else 0
        # The squares were rounded: for equal numbers, the difference can be just below 0.
        return sqrt(max(0, exact_sum.fraction_of(squares) / count - mean * mean))
