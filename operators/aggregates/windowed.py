"""Any mergeable operator over a time window: one state for each unit of time, so that an expired unit is dropped with its state."""

from functools import reduce
from typing import Any

from memory.schema.time_window import TimeWindow
from operators.operator import MergeableOperator, Operand, Operator, Value

Buckets = dict[str, Any]
"""The states by bucket number: see :meth:`memory.schema.time_window.TimeWindow.bucket_of`."""


class Windowed(Operator):
    """An operator over the last units of time, by the clocks of the events' users.

    An event outside the window changes nothing: its unit never returns, since the newest time never goes back.

    Args:
        operator: The operator of each unit's state.
        window: How many units there are, and of which length.
    """

    def __init__(self, operator: MergeableOperator, window: TimeWindow) -> None:
        self._operator = operator.with_capacity_for(window.length)
        self._window = window

    def apply(self, state: Buckets | None, operand: Operand) -> Buckets | None:
        """See :meth:`Operator.apply`."""
        return self._changed(state, operand, is_retraction=False)

    def retract(self, state: Buckets | None, operand: Operand) -> Buckets | None:
        """See :meth:`Operator.retract`."""
        return self._changed(state, operand, is_retraction=True)

    def value(self, state: Buckets) -> Value:
        """The value over all units together."""
        merged = reduce(
            lambda one, other: one if other is None else other if one is None else self._operator.merge(one, other), state.values()
        )
        return None if merged is None else self._operator.value(merged)

    def prune(self, state: Buckets, newest: int, newest_local: int | None = None) -> Buckets | None:
        """See :meth:`Operator.prune`."""
        oldest = self._oldest(newest if newest_local is None else newest_local)
        if all(int(name) >= oldest for name in state):
            return state
        return {name: part for name, part in state.items() if int(name) >= oldest} or None

    def _changed(self, state: Buckets | None, operand: Operand, *, is_retraction: bool) -> Buckets | None:
        change = self._operator.retract if is_retraction else self._operator.apply
        newest = operand.newest if operand.newest_local is None else operand.newest_local
        inside = self.prune(state, operand.newest, newest) if state else None
        bucket = self._window.bucket_of(operand.local)
        if bucket < self._oldest(newest):
            # Still refuse a value that the operator does not accept.
            change(None, operand)
            return inside
        parts = dict(inside or {})
        changed = change(parts.pop(str(bucket), None), operand)
        if changed is not None:
            parts[str(bucket)] = changed
        return parts or None

    def _oldest(self, newest: int) -> int:
        return self._window.bucket_of(newest) - self._window.length + 1
