"""Operators under test, and histories of what is applied to them and retracted."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from hypothesis import strategies as st

from memory.schema.model import ParameterValue
from memory.schema.time_window import TimeWindow
from operators.operator import Configuration, Operand, Operator
from operators.registry import operators

HOUR = 3_600_000_000
DAY = 24 * HOUR

Event = tuple[int, Any]
"""Day and value."""
Step = tuple[str, int, Any, int]
"""Source id, day, value, and 1 to apply or -1 to retract."""

NUMBERS = st.integers(-50, 50) | st.floats(-50, 50) | st.integers(-(2**62), 2**62) | st.floats(-1e30, 1e30)
WORDS = st.sampled_from(["ann", "ben", "cleo", "5", ""]) | st.integers(0, 9) | st.booleans() | st.text(max_size=3)
VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("SUM", "AVG", "MAX", "MIN", "EWMA"), NUMBERS),
    **dict.fromkeys(("COUNT", "RATE"), st.none()),
    **dict.fromkeys(("DISTINCT_COUNT", "TOP_K", "LATEST", "LIST"), WORDS),
}
"""By operator over events, the values that it takes."""


def configured(op: str, *, window: TimeWindow | None = None, **parameters: ParameterValue) -> Operator:
    """An operator with its parameters, those left out with their defaults."""
    kind = operators()[op]
    defaults = {each.name: getattr(each, "default") for each in kind.spec.parameters}  # noqa: B009
    return kind(Configuration(value_type="string", parameters=defaults | parameters, window=window or TimeWindow(7)))


def operand(source_id: str, day: int, value: Any, *, newest: int) -> Operand:
    """An event on a day."""
    return Operand(value, day * DAY + len(source_id), source_id, newest * DAY + DAY - 1)


def run(operator: Operator, steps: Sequence[Step], *, newest: int | None = None) -> Any:
    """The state after the steps, each state having gone through JSON.

    Args:
        operator: What is applied.
        steps: Applications and retractions.
        newest: The newest day; None: the newest so far at each step.
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
def histories(draw: st.DrawFn, op: str, *, longest: int = 40, days: int = 20) -> tuple[list[Step], list[Step]]:
    """Applications and retractions, each retraction behind its application, and the applications that are left."""
    steps: list[Step] = []
    live: list[Step] = []
    for number in range(draw(st.integers(0, longest))):
        is_retraction: bool = draw(st.booleans())
        if live and is_retraction:
            source_id, day, value, _ = live.pop(draw(st.integers(0, len(live) - 1)))
            steps.append((source_id, day, value, -1))
        else:
            step = (f"e{number:03d}", draw(st.integers(0, days)), draw(VALUES[op]), 1)
            live.append(step)
            steps.append(step)
    return steps, live
