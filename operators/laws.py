"""The laws of operators over events, as property tests. Test suites run them, also those of plugins. Needs ``hypothesis``.

An operator keeps a law while its state holds all that it needs: a bounded operator may drop entries once it exceeds its capacity.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final

import orjson
from hypothesis import given
from hypothesis import strategies as st

from memory.schema.model import ParameterValue, ValueType
from memory.schema.time_window import TimeWindow
from operators.aggregates.windowed import Windowed
from operators.operator import Configuration, MergeableOperator, Operand, Operator

DAY: Final = 24 * 3_600_000_000
"""In microseconds."""
LONGEST: Final = 40
"""Default length of a history."""

Step = tuple[str, int, Any, int]
"""Source id, day, value, and 1 to apply or -1 to retract."""
Values = st.SearchStrategy[Any]
"""The values that an operator accepts; ``st.none()`` for one that looks at the event as such."""
_Law = Callable[[Operator, Values, int], None]

_DAYS: Final = 20
_WINDOW: Final = TimeWindow(7)


def check_laws(
    kind: type[Operator],
    values: Values,
    *,
    value_type: ValueType = "float32",
    longest: int = LONGEST,
    parameters: Mapping[str, ParameterValue] | None = None,
) -> None:
    """Checks all laws that apply to an operator.

    Args:
        kind: The operator's class.
        values: The values that it accepts.
        value_type: The type of the property that it computes.
        longest: Length of a history. Use less than the capacity of an operator that drops entries.
        parameters: The parameters that a schema sets. Default: those of the operator's spec.

    Raises:
        AssertionError: If a law is broken; hypothesis prints the shortest example.
    """
    operator = configure(kind, value_type=value_type, parameters=parameters)
    for law in LAWS:
        law(operator, values, longest)


def configure(
    kind: type[Operator],
    *,
    value_type: ValueType = "string",
    window: TimeWindow | None = None,
    parameters: Mapping[str, ParameterValue] | None = None,
) -> Operator:
    """Makes an operator as a schema would, with the defaults of the parameters that are not given."""
    defaults = {each.name: getattr(each, "default", False) for each in kind.spec.parameters}
    return kind(Configuration(value_type=value_type, parameters=defaults | dict(parameters or {}), window=window or _WINDOW))


def order_does_not_matter(operator: Operator, values: Values, longest: int) -> None:
    """The state of a history is the state of its remaining events in any order."""

    @given(history=histories(values, longest=longest), random=st.randoms())
    def law(history: tuple[list[Step], list[Step]], random: Random) -> None:
        steps, remaining = history
        shuffled = list(remaining)
        random.shuffle(shuffled)
        assert as_bytes(run(operator, steps, newest=_DAYS)) == as_bytes(run(operator, shuffled, newest=_DAYS))

    law()


def retraction_undoes_application(operator: Operator, values: Values, longest: int) -> None:
    """Applying events and then retracting them gives the state from before."""

    @given(before=histories(values, longest=max(1, longest // 2)), added=histories(values, longest=max(1, longest // 3)))
    def law(before: tuple[list[Step], list[Step]], added: tuple[list[Step], list[Step]]) -> None:
        _, present = before
        more = [(f"x{name}", day, value, 1) for name, day, value, _ in added[1]]
        undone = [(name, day, value, -1) for name, day, value, _ in reversed(more)]
        assert as_bytes(run(operator, [*present, *more, *undone], newest=_DAYS)) == as_bytes(run(operator, present, newest=_DAYS))

    law()


def retraction_may_come_first(operator: Operator, values: Values, longest: int) -> None:
    """A retraction that arrives before its application cancels it."""

    @given(history=histories(values, longest=max(1, longest // 2)), day=st.integers(0, _DAYS), value=values)
    def law(history: tuple[list[Step], list[Step]], day: int, value: Any) -> None:
        _, present = history
        early = [("late", day, value, -1), *present, ("late", day, value, 1)]
        assert as_bytes(run(operator, early, newest=_DAYS)) == as_bytes(run(operator, present, newest=_DAYS))

    law()


def merging_is_associative(operator: Operator, values: Values, longest: int) -> None:
    """The states of parts merge to the state of the whole, in any grouping. For operators that take a time window."""
    if not isinstance(operator, MergeableOperator):
        return
    mergeable = operator

    def merged(one: Any, other: Any) -> Any:
        return other if one is None else one if other is None else mergeable.merge(one, other)

    @given(history=histories(values, longest=longest), data=st.data())
    def law(history: tuple[list[Step], list[Step]], data: st.DataObject) -> None:
        _, events = history
        cuts = sorted(data.draw(st.lists(st.integers(0, len(events)), min_size=2, max_size=2)))
        parts = [run(mergeable, part, newest=_DAYS) for part in (events[: cuts[0]], events[cuts[0] : cuts[1]], events[cuts[1] :])]
        whole = as_bytes(run(mergeable, events, newest=_DAYS))
        assert as_bytes(merged(merged(parts[0], parts[1]), parts[2])) == whole
        assert as_bytes(merged(parts[0], merged(parts[1], parts[2]))) == whole

    law()


def only_the_window_counts(operator: Operator, values: Values, longest: int) -> None:
    """In a time window, the value is that of the window's events, in any order. For operators that take a time window."""
    if not isinstance(operator, MergeableOperator) or operator.spec.window == "none":
        return
    inner = operator
    windowed = Windowed(inner, _WINDOW)

    @given(history=histories(values, longest=longest), random=st.randoms())
    def law(history: tuple[list[Step], list[Step]], random: Random) -> None:
        events = list(history[1])
        newest = max((day for _, day, _, _ in events), default=0)
        inside = run(inner, [step for step in events if step[1] > newest - _WINDOW.length], newest=newest)
        random.shuffle(events)
        state = run(windowed, events)
        assert state is None or len(state) <= _WINDOW.length
        assert (None if state is None else windowed.value(state)) == (None if inside is None else inner.value(inside))

    law()


def state_is_not_changed_in_place(operator: Operator, values: Values, longest: int) -> None:
    """Applying or retracting returns a new state and leaves the given one as it was."""

    @given(history=histories(values, longest=max(1, longest // 2)), value=values)
    def law(history: tuple[list[Step], list[Step]], value: Any) -> None:
        state = run(operator, history[1], newest=_DAYS)
        if state is None:
            return
        before = as_bytes(state)
        operator.apply(state, operand("added", 1, value, newest=_DAYS))
        for name, day, applied, _ in history[1][:1]:
            operator.retract(state, operand(name, day, applied, newest=_DAYS))
        assert as_bytes(state) == before

    law()


LAWS: Final[tuple[_Law, ...]] = (
    order_does_not_matter,
    retraction_undoes_application,
    retraction_may_come_first,
    merging_is_associative,
    only_the_window_counts,
    state_is_not_changed_in_place,
)
"""All laws; each takes the operator, its values and the length of a history."""


def as_bytes(state: Any) -> bytes:
    """A state in a form that can be compared."""
    return orjson.dumps(state, option=orjson.OPT_SORT_KEYS)


def operand(source_id: str, day: int, value: Any, *, newest: int) -> Operand:
    """An event on a day."""
    return Operand(value, day * DAY + len(source_id), source_id, newest * DAY + DAY - 1)


def run(operator: Operator, steps: Sequence[Step], *, newest: int | None = None) -> Any:
    """Runs steps; each state goes through JSON, as in the changelog.

    Args:
        operator: The operator.
        steps: Applications and retractions.
        newest: The newest day. Default: the newest day of the steps so far.

    Returns:
        The last state; None if nothing is left.
    """
    state = None
    seen = 0
    for source_id, day, value, times in steps:
        seen = max(seen, day)
        event = operand(source_id, day, value, newest=seen if newest is None else newest)
        state = operator.apply(state, event) if times > 0 else operator.retract(state, event)
        state = orjson.loads(orjson.dumps(state))
    return state


@st.composite
def histories(draw: st.DrawFn, values: Values, *, longest: int = LONGEST, days: int = _DAYS) -> tuple[list[Step], list[Step]]:
    """Applications and retractions (each retraction follows its application), and the applications that remain."""
    steps: list[Step] = []
    remaining: list[Step] = []
    for number in range(draw(st.integers(0, longest))):
        is_retraction: bool = draw(st.booleans())
        if remaining and is_retraction:
            source_id, day, value, _ = remaining.pop(draw(st.integers(0, len(remaining) - 1)))
            steps.append((source_id, day, value, -1))
        else:
            step = (f"e{number:03d}", draw(st.integers(0, days)), draw(values), 1)
            remaining.append(step)
            steps.append(step)
    return steps, remaining
