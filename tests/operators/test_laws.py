"""Every shipped operator over events keeps the laws of :mod:`operators.laws`; a broken operator does not."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st

from memory.schema.operator_specs import BUILT_IN
from memory.schema.time_window import TimeWindow
from operators import laws
from operators.aggregates import exact_sum
from operators.aggregates.statistics import Sum
from operators.operator import AdditiveOperator, Operand, State
from operators.registry import operators
from tests.operators.histories import VALUES, configured, run

OPS = sorted(VALUES)
KEEPS_ALL_OF = {"LATEST": 16, "LIST": 26}
"""Values that these operators keep. Once one is dropped, a retraction leaves a gap in the state, but not in its value."""


def test_every_built_in_operator_is_checked() -> None:
    names = {spec.name for spec in BUILT_IN}
    ordered = {"PATCH", "LLM_MERGE", "AGENT", "LINK", "TIME_COMPRESS", "STRENGTH", "EDGE", "CLUSTER", "HEAT", "TREE", "TIERS"}
    assert names <= operators().keys(), "name the class in operators/registry.py"
    assert set(OPS) == names - ordered, "give its values in tests/operators/histories.py, or name it here if the order matters"


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("op", OPS)
def test_operators_keep_the_law(op: str, law: Callable[..., None]) -> None:
    law(configured(op), VALUES[op], KEEPS_ALL_OF.get(op, laws.LONGEST))


@pytest.mark.parametrize("op", OPS)
def test_states_do_not_grow_with_history(op: str) -> None:
    operator = configured(op, **({"HalfLife": TimeWindow(1)} if op == "EWMA" else {}))
    values: dict[str, Any] = {"COUNT": lambda _: None, "RATE": lambda _: None}
    value_of = values.get(op, lambda number: (number * 7919) % 10007 / 8)
    sizes = [
        len(laws.as_bytes(run(operator, [(f"e{each:05d}", each // 20, value_of(each), 1) for each in range(count)])))
        for count in (2_000, 8_000)
    ]
    assert sizes[1] <= sizes[0] * 1.1 + 40


class _NewestWins(Sum):
    """Depends on the order of the events."""

    def add(self, state: State | None, operand: Operand, times: int) -> State | None:
        return exact_sum.add(None, exact_sum.as_number(operand.value), times)


class _ChangesInPlace(AdditiveOperator):
    """Changes the state that it is given."""

    spec = Sum.spec

    def add(self, state: State | None, operand: Operand, times: int) -> State | None:
        counts: dict[str, int] = {} if state is None else state
        key = str(operand.value)
        counts[key] = counts.get(key, 0) + times
        if not counts[key]:
            del counts[key]
        return counts or None

    def merge(self, one: State, other: State) -> State | None:
        counts = {key: one.get(key, 0) + other.get(key, 0) for key in {*one, *other}}
        return {key: count for key, count in counts.items() if count} or None

    def value(self, state: State) -> int:
        return len(state)


class _NeverForgets(_ChangesInPlace):
    """Leaves a trace of what was retracted."""

    def add(self, state: State | None, operand: Operand, times: int) -> State | None:
        counts = dict(state or {})
        counts[str(operand.value)] = counts.get(str(operand.value), 0) + times
        return counts


@pytest.mark.parametrize("broken", [_NewestWins, _ChangesInPlace, _NeverForgets])
def test_a_broken_operator_is_found(broken: type[Sum]) -> None:
    with pytest.raises(AssertionError):
        laws.check_laws(broken, st.integers(-5, 5))
