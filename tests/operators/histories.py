"""Shipped operators under test, with the values that each accepts."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from memory.schema.model import ParameterValue
from memory.schema.time_window import TimeWindow
from operators import laws
from operators.laws import DAY, Step, operand, run
from operators.operator import Operator
from operators.registry import operators

__all__ = ["DAY", "HOUR", "VALUES", "Event", "Step", "configured", "histories", "operand", "run"]

HOUR = 3_600_000_000

Event = tuple[int, Any]
"""Day and value."""

NUMBERS = st.integers(-50, 50) | st.floats(-50, 50) | st.integers(-(2**62), 2**62) | st.floats(-1e30, 1e30)
WORDS = st.sampled_from(["ann", "ben", "cleo", "5", ""]) | st.integers(0, 9) | st.booleans() | st.text(max_size=3)
VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("SUM", "AVG", "MAX", "MIN", "EWMA"), NUMBERS),
    **dict.fromkeys(("COUNT", "RATE"), st.none()),
    **dict.fromkeys(("DISTINCT_COUNT", "TOP_K", "LATEST", "LIST"), WORDS),
}
"""The values that each operator over events accepts."""


def configured(op: str, *, window: TimeWindow | None = None, **parameters: ParameterValue) -> Operator:
    """An operator with its parameters; the defaults for those left out."""
    return laws.configure(operators()[op], window=window, parameters=parameters)


def histories(op: str, *, longest: int = 40, days: int = 20) -> st.SearchStrategy[tuple[list[Step], list[Step]]]:
    """Histories of an operator's values: see :func:`operators.laws.histories`."""
    return laws.histories(VALUES[op], longest=longest, days=days)
