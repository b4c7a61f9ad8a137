"""HEAT: visits, length and recency; promotion to long-term memory; the coolest segment leaves a full memory."""

import math
from typing import Any

import pytest
from hypothesis import strategies as st
from pydantic import JsonValue

from memory.records import Memory
from memory.schema import parse_schema
from memory.schema.time_window import TimeWindow
from operators import laws
from operators.aggregates.heat import MAX_TEXT, Heat
from operators.laws import DAY, as_bytes
from operators.operator import Operand, State
from operators.publishing import Owner
from tests.operators.histories import configured

KEPT = [law for law in laws.LAWS if law is not laws.retraction_may_come_first]
"""A segment that has left is unknown, so its retraction leaves nothing that could cancel a later application."""


def heat(**parameters: Any) -> Heat:
    operator = configured("HEAT", **parameters)
    assert isinstance(operator, Heat)
    return operator


def segment(name: str, day: float, *, messages: int = 1, text: str | None = None) -> Operand:
    made = round(day * DAY)
    value: dict[str, JsonValue] = {
        "text": text or f"About {name}.",
        "importance": 0.5,
        "message_ids": [f"{name}{number}" for number in range(messages)],
        "user": "ann",
        "window_id": "w",
        "said_at": made,
    }
    return Operand(value, made, name, made)


def applied(operator: Heat, *segments: Operand) -> State:
    state: State = None
    for each in segments:
        state = operator.apply(state, each)
    return state


def visited(operator: Heat, state: State, name: str, *days: float) -> State:
    for day in days:
        state = operator.touch(state, name, round(day * DAY))
    return state


def promoted(operator: Heat, state: State) -> list[Memory]:
    aggregate = {"Op": "HEAT", "EventType": "note"}
    schema = parse_schema(
        {
            "Name": "tests",
            "EventTypes": [{"EventType": "note", "Description": "A note."}],
            "EntityTypes": [
                {
                    "EntityType": "tiers",
                    "Keys": ["user"],
                    "Properties": [{"PropertyName": "tier_sizes", "PropertyValueType": "string", "AggregateExpression": aggregate}],
                }
            ],
        }
    )
    return list(operator.memories(state, Owner("tier_sizes", schema.entity_types[0], "acme", "ann", "")))


@pytest.mark.parametrize("law", KEPT, ids=lambda law: law.__name__)
def test_heat_keeps_the_law(law: Any) -> None:
    values = st.builds(
        lambda day, count: segment("x", day, messages=count).value,
        st.integers(0, 20),
        st.integers(1, 5),
    )
    law(heat(), values, laws.LONGEST)


@pytest.mark.parametrize(("visits", "messages", "days"), [(0, 1, 0), (3, 4, 0), (2, 5, 116), (7, 2, 30)])
def test_heat_is_the_formula(visits: int, messages: int, days: int) -> None:
    operator = heat(Visits=200, Length=50, Recency=300)
    state = visited(operator, applied(operator, segment("a", 0, messages=messages)), "a", *range(1, visits + 1))
    expected = 2 * visits + 0.5 * math.ceil(messages / 2) + 3 * math.exp(-days / 116)
    assert operator.heat(state["a"], (visits + days) * DAY) == pytest.approx(expected)


def test_a_recalled_segment_is_promoted() -> None:
    operator = heat()
    state = applied(operator, segment("a", 0, messages=4), segment("b", 0))
    state = visited(operator, state, "a", 1)
    assert promoted(operator, state) == []
    assert operator.value(state) == "2 in mid-term memory, 0 in long-term memory"
    state = visited(operator, state, "a", 2)
    (found,) = promoted(operator, state)
    assert (found.kind, found.content, found.user, found.event_time.isoformat()) == (
        "summary",
        "About a.",
        "ann",
        "1970-01-01T00:00:00+00:00",
    )
    assert found.properties == {"user": "ann", "tier": "long-term", "visits": 2, "heat": 5.0, "events": ["a"]}
    assert found.message_ids == ["a0", "a1", "a2", "a3"]
    assert operator.value(state) == "1 in mid-term memory, 1 in long-term memory"
    later = visited(operator, state, "b", 300)
    assert [each.id for each in promoted(operator, later)] == [found.id], "it stays although it has cooled"


def test_length_alone_does_not_promote() -> None:
    operator = heat()
    assert promoted(operator, applied(operator, segment("a", 0, messages=30))) == []


def test_a_recall_counts_once() -> None:
    operator = heat()
    state = visited(operator, applied(operator, segment("a", 0)), "a", 1)
    assert visited(operator, state, "a", 1, 0.5) is state
    assert visited(operator, state, "nobody", 2) is state


def test_the_coolest_segment_leaves() -> None:
    operator = heat(Limit=2, Fade=TimeWindow(1, "day"))
    state = visited(operator, applied(operator, segment("old", 0), segment("hot", 0)), "hot", 1)
    assert set(operator.apply(state, segment("new", 2))) == {"hot", "new"}
    assert set(operator.apply(state, segment("late", -3))) == {"hot", "old"}, "one that arrives late is the coolest itself"


def test_the_state_is_bounded() -> None:
    operator = heat(Limit=10)
    state = applied(operator, *(segment(f"e{number}", number, text="long " * 1000, messages=50) for number in range(100)))
    assert len(state) == 10
    assert all(len(each["text"]) <= MAX_TEXT and len(each["message_ids"]) == 20 for each in state.values())


def test_a_correction_keeps_the_visits() -> None:
    operator = heat()
    state = visited(operator, applied(operator, segment("a", 0)), "a", 1, 2)
    retracted = operator.retract(state, segment("a", 0))
    corrected = operator.prune(operator.apply(retracted, segment("a", 0, text="About something else.")), 0)
    assert corrected == {"a": {**state["a"], "text": "About something else."}}
    assert operator.prune(retracted, 0) is None
    assert as_bytes(operator.apply(None, segment("a", 0))) == as_bytes(applied(operator, segment("a", 0)))


def test_an_unknown_segment_can_be_retracted() -> None:
    operator = heat(Limit=1)
    state = applied(operator, segment("a", 0), segment("b", 1))
    assert operator.retract(state, segment("a", 0)) is state
