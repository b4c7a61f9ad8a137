"""DISTINCT_COUNT: how many different values there are, exactly while they are few, and as an estimate beyond."""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, ClassVar, Final
from unicodedata import normalize

import orjson

from memory.schema.operator_specs import OperatorSpec, built_in
from operators.aggregates.exact_sum import as_number
from operators.operator import BoundedOperator, Operand

_HASH_BYTES: Final = 6
_ALL: Final = "g"
"""Above every hash: no value has been left out."""

State = list[Any]
"""``[limit, counts]``: by hash, how often each value is there whose hash is below the limit."""


class DistinctCount(BoundedOperator):
    """The number of distinct values: exact up to 256, above that with a standard error of 1 / sqrt(256 - 2), about 6 %.

    A theta sketch (Dasgupta et al. 2016, 3) with a count per entry, so that values can be retracted. It keeps every value whose hash is
    below a limit; the estimate is the number of kept values divided by the share of the hash range below the limit. A value with a higher
    hash changes nothing, neither when applied nor when retracted. The limit is only ever lowered, until the state is empty.
    """

    spec: ClassVar[OperatorSpec] = built_in("DISTINCT_COUNT")
    default_capacity: ClassVar[int] = 256
    least_capacity: ClassVar[int] = 16

    def add(self, state: State | None, operand: Operand, times: int) -> State | None:
        """See :meth:`AdditiveOperator.add`; takes any value, and of a list each item."""
        limit, counts = (state[0], dict(state[1])) if state else (_ALL, {})
        for item in items_of(operand.value):
            name = blake2b(item.encode(), digest_size=_HASH_BYTES).hexdigest()
            if name < limit:
                _count(counts, name, times)
        return self._state(limit, counts)

    def merge(self, one: State, other: State) -> State | None:
        """See :meth:`MergeableOperator.merge`."""
        limit = min(one[0], other[0])
        counts: dict[str, int] = {}
        for name, count in [*one[1].items(), *other[1].items()]:
            if name < limit:
                _count(counts, name, count)
        return self._state(limit, counts)

    def value(self, state: State) -> int:
        """The number of different values; beyond the capacity an estimate."""
        limit, counts = state
        kept = sum(count > 0 for count in counts.values())
        return kept if limit == _ALL else int(kept * (1 << 8 * _HASH_BYTES) / int(limit, 16))

    def _state(self, limit: str, counts: dict[str, int]) -> State | None:
        while len(counts) > self._capacity:
            limit = max(counts)
            del counts[limit]
        return [limit, counts] if counts else None


def items_of(value: object) -> Iterator[str]:
    """A value, or each item of a list, as JSON: equal values give equal text, however Unicode spells their letters."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            item = normalize("NFC", item)
        is_number = isinstance(item, int | float) and not isinstance(item, bool)
        yield orjson.dumps(as_number(item) if is_number else item).decode()


def _count(counts: dict[str, int], name: str, times: int) -> None:
    count = counts.get(name, 0) + times
    if count:
        counts[name] = count
    else:
        counts.pop(name, None)
