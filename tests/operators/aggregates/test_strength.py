"""STRENGTH: retention by the forgetting curve, recalls that make a memory stronger, and a limited number of memories."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.schema.operator_specs import built_in
from memory.schema.time_window import TimeWindow
from operators import laws
from operators.aggregates.strength import Strength
from operators.aging import AgedEvent
from operators.laws import DAY, as_bytes
from operators.operator import Operand, State
from tests.operators.histories import configured

LIFE = math.log(20)
"""Days until exp(-t) is 5 %."""
KEPT = [law for law in laws.LAWS if law is not laws.retraction_may_come_first]
"""An expired event is unknown, so its retraction leaves nothing that could cancel a later application."""


def strength(**parameters: Any) -> Strength:
    operator = configured("STRENGTH", **parameters)
    assert isinstance(operator, Strength)
    return operator


def event(name: str, day: float) -> Operand:
    made = round(day * DAY)
    return Operand({"user": "ann", "window_id": f"w-{name}", "said_at": made}, made, name, made)


def memories(operator: Strength, **days: float) -> State:
    state: State = None
    for name, day in days.items():
        state = operator.apply(state, event(name, day))
    return state


def faded(operator: Strength, state: State, day: float) -> tuple[State, list[str]]:
    """The state on a day, and the events that are asked to expire then."""
    after, aged = operator.ask(operator.advance(state, round(day * DAY)))
    assert all(each == AgedEvent(each.id, "ann", f"w-{each.id}") for each in aged)
    return after, [each.id for each in aged]


@pytest.mark.parametrize("law", KEPT, ids=lambda law: law.__name__)
def test_strength_keeps_the_law(law: Any) -> None:
    values = st.builds(lambda day: {"user": "ann", "window_id": "w", "said_at": day * DAY}, st.integers(0, 20))
    law(strength(), values, laws.LONGEST)


def test_strength_is_named_as_aging() -> None:
    assert {name for name in ("STRENGTH", "TIME_COMPRESS", "COUNT") if built_in(name).ages} == {"STRENGTH", "TIME_COMPRESS"}


@given(percent=st.integers(1, 99), recalls=st.integers(0, 6), unit=st.integers(1, 30))
def test_a_memory_is_due_at_the_limit(percent: int, recalls: int, unit: int) -> None:
    operator = strength(LeastRetention=percent, Strength=TimeWindow(unit, "day"))
    state = memories(operator, a=0)
    last = 0
    for _ in range(recalls):
        last += 1
        state = operator.touch(state, "a", last)
    due = operator.due(state)
    assert due is not None
    retention = math.exp(-(due - last) / (DAY * unit * (1 + recalls)))
    assert retention == pytest.approx(percent / 100, abs=1e-6)


def test_a_memory_fades_unless_recalled() -> None:
    operator = strength()
    state = memories(operator, a=0, b=0)
    state = operator.touch(state, "b", 2 * DAY)
    state, names = faded(operator, state, LIFE + 0.01)
    assert names == ["a"]
    assert faded(operator, state, LIFE + 0.02)[1] == [], "each is asked once"
    assert faded(operator, state, 2 + 2 * LIFE - 0.01)[1] == []
    assert faded(operator, state, 2 + 2 * LIFE + 0.01)[1] == ["b"], "its strength is 2 days since the recall"


def test_an_old_or_unknown_recall_changes_nothing() -> None:
    operator = strength()
    state = operator.touch(memories(operator, a=1), "a", 3 * DAY)
    assert operator.touch(state, "a", 2 * DAY) is state
    assert operator.touch(state, "nobody", 9 * DAY) is state


def test_the_weakest_above_the_limit_are_asked() -> None:
    operator = strength(Limit=2)
    state = operator.touch(memories(operator, a=0, b=0.1, c=0.2), "a", DAY)
    assert operator.due(state) is not None
    state, names = faded(operator, state, 1)
    assert names == ["b"]
    assert operator.due(state) == round((0.2 + LIFE) * DAY)
    assert operator.value(operator.release(state, "b", DAY)) == 2


def test_the_state_is_bounded() -> None:
    operator = strength(Limit=5)
    state = memories(operator, **{f"e{number}": number for number in range(50)})
    assert set(state["events"]) == {f"e{number}" for number in range(40, 50)}


def test_an_expired_event_can_be_retracted() -> None:
    operator = strength()
    state, names = faded(operator, memories(operator, a=0), 5)
    state = operator.release(state, names[0], 5 * DAY)
    assert operator.value(state) == 0
    assert operator.retract(state, event("a", 0)) == state


def test_a_correction_keeps_the_strength() -> None:
    operator = strength()
    state = operator.touch(memories(operator, a=0), "a", 2 * DAY)
    retracted = operator.retract(state, event("a", 0))
    corrected = operator.prune(operator.apply(retracted, event("a", 0)), 0)
    assert as_bytes(corrected) == as_bytes(state)
    assert operator.prune(retracted, 0) is None, "a retraction alone leaves nothing"
