"""EWMA: a mean in which old numbers count less and less."""

from fractions import Fraction
from typing import ClassVar, Final

from memory.schema.operator_specs import OperatorSpec, built_in
from operators.aggregates import exact_sum
from operators.errors import RefusedChangeError
from operators.operator import AdditiveOperator, Configuration, Operand, State

_DECAYED_AWAY: Final = 40
"""Half-lives after which a number no longer counts: its weight is below 1e-12."""


class Ewma(AdditiveOperator):
    """The mean of the numbers, each weighted by ``2 ** (time / half-life)``: exponential forward decay (Cormode et al. 2009, 3).

    The ratio of the weighted sum to the sum of weights does not depend on the time of reading, so the state needs no update as time
    passes. Weights within one half-life are doubles from 1 to 2 and are summed exactly; weights of different half-lives differ by a power
    of two. So the value depends neither on the order of events nor on retractions.
    """

    spec: ClassVar[OperatorSpec] = built_in("EWMA")

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self._half_life = configuration.span_us("HalfLife")

    def add(self, state: State | None, operand: Operand, times: int) -> State | None:
        """See :meth:`AdditiveOperator.add`; takes numbers. One of more than forty half-lives before the newest changes nothing."""
        number = exact_sum.as_number(operand.value)
        parts = dict(self.prune(state, operand.newest) or {}) if state else {}
        bucket, rest = divmod(operand.time, self._half_life)
        if bucket <= self._oldest(operand.newest):
            return parts or None
        weight = 2.0 ** (rest / self._half_life)
        weighted = weight * number
        if weighted in (float("inf"), float("-inf")):
            raise RefusedChangeError("number_too_large")
        weights, sums = parts.pop(str(bucket), (None, None))
        weights = exact_sum.add(weights, weight, times)
        sums = exact_sum.add(sums, weighted, times)
        if weights is not None or sums is not None:
            parts[str(bucket)] = [weights, sums]
        return parts or None

    def merge(self, one: State, other: State) -> State | None:
        """See :meth:`MergeableOperator.merge`."""
        parts = dict(one)
        for name, (weights, sums) in other.items():
            own_weights, own_sums = parts.pop(name, (None, None))
            merged = [exact_sum.merged(own_weights, weights), exact_sum.merged(own_sums, sums)]
            if merged != [None, None]:
                parts[name] = merged
        return parts or None

    def value(self, state: State) -> float | None:
        """The weighted mean, rounded once."""
        newest = max(map(int, state))
        weights, sums = Fraction(), Fraction()
        for name, (weight, weighted) in state.items():
            scale = 1 << (newest - int(name))
            weights += exact_sum.fraction_of(weight) / scale if weight else 0
            sums += exact_sum.fraction_of(weighted) / scale if weighted else 0
        return float(sums / weights) if weights > 0 else None

    def prune(self, state: State, newest: int, newest_local: int | None = None) -> State | None:
        """See :meth:`Operator.prune`."""
        oldest = self._oldest(newest)
        if all(int(name) > oldest for name in state):
            return state
        return {name: part for name, part in state.items() if int(name) > oldest} or None

    def _oldest(self, newest: int) -> int:
        return newest // self._half_life - _DECAYED_AWAY
