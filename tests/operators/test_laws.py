"""The laws that every operator over events keeps, while its state holds all that it needs."""

from typing import Any, cast

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.schema.time_window import TimeWindow
from operators.operator import MergeableOperator
from operators.registry import operators
from operators.windowed import Windowed
from tests.operators.histories import VALUES, configured, histories, operand, run

OPS = sorted(VALUES)
KEEPS_ALL_OF = {"LATEST": 17, "LIST": 26}
"""Operators drop none of so many values. Once one is dropped, what is retracted leaves a gap in the state, though not in its value."""
WINDOWED = [op for op in OPS if operators()[op].spec.window != "none"]


def as_bytes(state: Any) -> bytes:
    return orjson.dumps(state, option=orjson.OPT_SORT_KEYS)


def test_every_operator_is_held_to_them() -> None:
    assert set(OPS) == set(operators()) - {"PATCH", "LLM_MERGE", "TIME_COMPRESS"}


@pytest.mark.parametrize("op", OPS)
@given(data=st.data(), random=st.randoms())
def test_order_does_not_matter(op: str, data: st.DataObject, random: Any) -> None:
    operator = configured(op)
    steps, live = data.draw(histories(op, longest=KEEPS_ALL_OF.get(op, 40)))
    shuffled = list(live)
    random.shuffle(shuffled)
    assert as_bytes(run(operator, steps, newest=20)) == as_bytes(run(operator, shuffled, newest=20))


@pytest.mark.parametrize("op", OPS)
@given(data=st.data())
def test_apply_then_retract_is_the_identity(op: str, data: st.DataObject) -> None:
    operator = configured(op)
    _, before = data.draw(histories(op, longest=10))
    _, added = data.draw(histories(op, longest=7))  # with those before no more than LATEST keeps: what is dropped does not come back
    added = [(f"x{name}", day, value, 1) for name, day, value, _ in added]
    undone = [(name, day, value, -1) for name, day, value, _ in reversed(added)]
    state = run(operator, before, newest=20)
    assert as_bytes(run(operator, [*before, *added, *undone], newest=20)) == as_bytes(state)


@pytest.mark.parametrize("op", OPS)
@given(data=st.data())
def test_a_retraction_may_come_first(op: str, data: st.DataObject) -> None:
    operator = configured(op)
    _, live = data.draw(histories(op, longest=10))
    name, day, value = "late", data.draw(st.integers(0, 20)), data.draw(VALUES[op])
    early = [(name, day, value, -1), *live, (name, day, value, 1)]
    assert as_bytes(run(operator, early, newest=20)) == as_bytes(run(operator, live, newest=20))


@pytest.mark.parametrize("op", OPS)
@given(data=st.data())
def test_merging_is_associative_and_gives_the_whole(op: str, data: st.DataObject) -> None:
    operator = cast(MergeableOperator, configured(op))
    _, live = data.draw(histories(op, longest=18))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(live)), min_size=2, max_size=2)))
    states = [run(operator, part, newest=20) for part in (live[: cuts[0]], live[cuts[0] : cuts[1]], live[cuts[1] :])]

    def merged(one: Any, other: Any) -> Any:
        return other if one is None else one if other is None else operator.merge(one, other)

    left = merged(merged(states[0], states[1]), states[2])
    assert as_bytes(left) == as_bytes(merged(states[0], merged(states[1], states[2])))
    assert as_bytes(left) == as_bytes(run(operator, live, newest=20))


@pytest.mark.parametrize("op", WINDOWED)
@given(data=st.data(), random=st.randoms())
def test_only_the_window_counts_whatever_the_order(op: str, data: st.DataObject, random: Any) -> None:
    window = TimeWindow(7)
    inner = cast(MergeableOperator, configured(op, window=window))
    operator = Windowed(inner, window)
    _, live = data.draw(histories(op))
    newest = max((day for _, day, _, _ in live), default=0)
    inside = run(inner, [step for step in live if step[1] > newest - 7], newest=newest)
    random.shuffle(live)
    state = run(operator, live)
    assert state is None or len(state) <= 7
    assert (None if state is None else operator.value(state)) == (None if inside is None else inner.value(inside))


@pytest.mark.parametrize("op", OPS)
def test_states_do_not_grow_with_history(op: str) -> None:
    operator = configured(op, **({"HalfLife": TimeWindow(1)} if op == "EWMA" else {}))
    values: dict[str, Any] = {"COUNT": lambda _: None, "RATE": lambda _: None}
    value_of = values.get(op, lambda number: (number * 7919) % 10007 / 8)
    sizes = [
        len(as_bytes(run(operator, [(f"e{each:05d}", each // 20, value_of(each), 1) for each in range(count)]))) for count in (2_000, 8_000)
    ]
    assert sizes[1] <= sizes[0] * 1.1 + 40


@pytest.mark.parametrize("op", OPS)
def test_a_state_is_never_changed_in_place(op: str) -> None:
    operator = configured(op)
    value: Any = None if op in ("COUNT", "RATE") else 3
    state = operator.apply(None, operand("one", 1, value, newest=1))
    before = as_bytes(state)
    operator.apply(state, operand("two", 1, value, newest=1))
    operator.retract(state, operand("one", 1, value, newest=1))
    assert as_bytes(state) == before
