"""TOP_K: the most frequent values."""

from collections.abc import Iterable
from typing import Any, ClassVar, Final

import orjson

from memory.schema.operator_specs import OperatorSpec, built_in
from operators.aggregates.distinct_count import items_of
from operators.errors import RefusedChangeError
from operators.operator import BoundedOperator, Configuration, Operand, Value

MAX_ITEM: Final = 256
"""Characters of a value, as JSON."""

State = list[Any]
"""``[bound, counts]``: the count of each kept value, and the largest count that a value that is not kept may have."""


class TopK(BoundedOperator):
    """The most frequent values, most frequent first; ties in the order of their text.

    Space-Saving (Metwally et al. 2005, 3): above the capacity, a new value replaces the least frequent one and inherits its count. So no
    value with a share above 1/256 is missed, and a count may be too high by at most ``bound``. If values were dropped, a value that is not
    kept cannot be retracted: the counts stay too high until the entity is rebuilt.

    Args:
        configuration: The schema's definition of the property.
        capacity: Number of distinct values kept; counts are exact up to it. Default: 256.
    """

    spec: ClassVar[OperatorSpec] = built_in("TOP_K")
    default_capacity: ClassVar[int] = 256
    least_capacity: ClassVar[int] = 64

    def __init__(self, configuration: Configuration, capacity: int | None = None) -> None:
        super().__init__(configuration, capacity)
        self._k = configuration.whole("K")

    def add(self, state: State | None, operand: Operand, times: int) -> State | None:
        """See :meth:`AdditiveOperator.add`; takes any value, and of a list each item."""
        items = list(items_of(operand.value))
        if any(len(item) > MAX_ITEM for item in items):
            raise RefusedChangeError("value_too_long")
        return self._with(state or [0, {}], ((item, times) for item in items))

    def merge(self, one: State, other: State) -> State | None:
        """See :meth:`MergeableOperator.merge`."""
        (bound, counts), (other_bound, other_counts) = one, other
        missing = {item: count + other_bound for item, count in counts.items() if item not in other_counts}
        common = {item: counts.get(item, bound) + count for item, count in other_counts.items()}
        return self._cut(bound + other_bound, missing | common)

    def value(self, state: State) -> Value:
        """The most frequent values."""
        present = [(item, count) for item, count in state[1].items() if count > 0]
        return [orjson.loads(item) for item, _ in sorted(present, key=lambda pair: (-pair[1], pair[0]))[: self._k]] or None

    def _with(self, state: State, changes: Iterable[tuple[str, int]]) -> State | None:
        bound, counts = state[0], dict(state[1])
        for item, times in changes:
            known = counts.pop(item, None)
            if known is None and bound and times < 0:
                continue
            count = (bound if known is None else known) + times
            if count:
                counts[item] = count
        return self._cut(bound, counts)

    def _cut(self, bound: int, counts: dict[str, int]) -> State | None:
        while len(counts) > self._capacity:
            # The new one may not be the one to go: it would never get in.
            least = min(list(counts)[:-1], key=lambda item: (counts[item], item))
            bound = max(bound, counts.pop(least))
        counts = {item: count for item, count in counts.items() if count}
        return [bound, counts] if counts else None
