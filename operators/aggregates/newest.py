"""LATEST and LIST: the newest values by event time."""

from bisect import bisect_left
from itertools import groupby
from typing import Any, ClassVar, Final, cast

import orjson

from memory.schema.operator_specs import OperatorSpec, built_in
from operators.errors import RefusedChangeError
from operators.operator import AdditiveOperator, Configuration, MergeableOperator, Operand, UnknownValue, Value

MAX_VALUE: Final = 2000
"""Characters of a value."""
_RESERVE: Final = 16
"""Values that are kept beyond those that are shown: so many newest ones can be retracted."""

Key = list[Any]
"""``[-time, -order, source id]``: lower is newer. Ids only break ties of equal time and order."""
State = list[Any]
"""``[kept, dropped, newest_dropped]``: the newest values as ``[key, value, count]``, how many older ones were dropped, and the newest of
their keys. One key has several values where an event was corrected and what it said before is still to come."""
_EMPTY: Final[State] = [[], 0, None]


class _Newest(AdditiveOperator):
    """Keeps the newest values; of the dropped ones only their number and the newest key.

    Every kept value is newer than every dropped one. Dropped values do not replace retracted ones until the entity is rebuilt.

    Args:
        configuration: The schema's definition of the property.
    """

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self._capacity = self._shown + _RESERVE

    @property
    def _shown(self) -> int:
        return 1

    def with_capacity_for(self, parts: int) -> MergeableOperator:
        """See :meth:`MergeableOperator.with_capacity_for`: a single part may have all the shown values."""
        return self

    def add(self, state: State | None, operand: Operand, times: int) -> State | None:
        """See :meth:`AdditiveOperator.add`; takes any value of at most 2,000 characters in all."""
        if operand.value is None or len(str(operand.value)) > MAX_VALUE:
            raise RefusedChangeError("value_too_long" if operand.value is not None else "no_value")
        kept, dropped, newest_dropped = state or _EMPTY
        key = [-operand.time, -operand.order, operand.source_id]
        if newest_dropped is not None and key >= newest_dropped:
            return self._state(kept, dropped + times, newest_dropped)
        return self._state(_with(kept, key, operand.value, times), dropped, newest_dropped)

    def merge(self, one: State, other: State) -> State | None:
        """See :meth:`MergeableOperator.merge`."""
        (mine, my_dropped, _), (others, other_dropped, _) = parts = one, other
        newest_dropped = min((key for _, _, key in parts if key is not None), default=None)
        dropped = my_dropped + other_dropped
        kept: list[list[Any]] = []
        for key, value, count in [*mine, *others]:
            if newest_dropped is not None and key >= newest_dropped:
                dropped += count
            else:
                kept = _with(kept, key, value, count)
        return self._state(kept, dropped, newest_dropped)

    def _state(self, kept: list[list[Any]], dropped: int, newest_dropped: Key | None) -> State | None:
        keys = [key for key, _ in groupby(key for key, _, _ in kept)]
        if len(keys) > self._capacity:
            # Drop all values of a key together: later values of that key are dropped, too.
            newest_dropped = keys[self._capacity]
            dropped += sum(count for key, _, count in kept if key >= newest_dropped)
            kept = [each for each in kept if each[0] < newest_dropped]
        return [kept, dropped, newest_dropped if dropped else None] if kept or dropped else None

    def _present(self, state: State) -> list[Any]:
        """The kept values, newest first."""
        return [value for _, value, count in state[0] if count > 0]


class Latest(_Newest):
    """The value of the newest event; unknown once more of the newest were retracted than are kept in reserve."""

    spec: ClassVar[OperatorSpec] = built_in("LATEST")

    def value(self, state: State) -> Value:
        """The newest value."""
        present = self._present(state)
        if present:
            return cast(Value, present[0])
        return UnknownValue.UNKNOWN if state[1] > 0 else None


class NewestList(_Newest):
    """The values of the newest events, oldest first; a short list once more were retracted than are kept in reserve."""

    spec: ClassVar[OperatorSpec] = built_in("LIST")

    @property
    def _shown(self) -> int:
        return self._configuration.whole("Limit")

    def value(self, state: State) -> Value:
        """The newest values."""
        present = self._present(state)[: self._shown]
        if not present and state[1] > 0:
            return UnknownValue.UNKNOWN
        return present[::-1] or None


def _with(kept: list[list[Any]], key: Key, value: object, times: int) -> list[list[Any]]:
    place = _place([key, value])
    index = bisect_left(kept, place, key=_place)
    found = index < len(kept) and _place(kept[index]) == place
    count = (kept[index][2] if found else 0) + times
    return [*kept[:index], *([[key, value, count]] if count else []), *kept[index + found :]]


def _place(entry: list[Any]) -> tuple[Key, bytes]:
    """The sort key of an entry: as JSON, because Python takes 1 and True as equal and cannot order values of two types."""
    return entry[0], orjson.dumps(entry[1])
