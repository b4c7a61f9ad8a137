"""SUM, COUNT, AVG, MAX, MIN against plain Python, under random interleavings of apply and retract."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.errors import RefusedChangeError
from operators.statistics import STATISTICS, Extreme, Statistic, UnknownValue

NUMBERS = st.integers(-50, 50) | st.floats(-50, 50) | st.integers(-(2**62), 2**62) | st.floats(-1e30, 1e30)

ORACLES: dict[str, Any] = {
    "COUNT": len,
    "SUM": lambda live: sum(map(Fraction, live)),
    "AVG": lambda live: float(sum(map(Fraction, live)) / len(live)),
    "MAX": max,
    "MIN": min,
}
OPS = st.sampled_from(sorted(ORACLES))


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[tuple[float, int]], list[float]]:
    """Applications and retractions, each retraction behind its application, and what is left of them."""
    steps: list[tuple[float, int]] = []
    live: list[float] = []
    for _ in range(draw(st.integers(0, 60))):
        is_retraction: bool = draw(st.booleans())
        if live and is_retraction:
            steps.append((live.pop(draw(st.integers(0, len(live) - 1))), -1))
        else:
            number = draw(NUMBERS)
            live.append(number)
            steps.append((number, 1))
    return steps, live


def run(statistic: Statistic, steps: list[tuple[float, int]]) -> Any:
    state = None
    for number, times in steps:
        state = orjson.loads(orjson.dumps(statistic.add(state, number, times)))
    return state


@given(histories(), OPS)
def test_the_value_is_the_one_of_what_is_left(history: tuple[list[tuple[float, int]], list[float]], op: Any) -> None:
    steps, live = history
    statistic = STATISTICS[op]
    state = run(statistic, steps)
    if not live:
        assert state is None
        return
    value = statistic.value([state])
    expected = ORACLES[op](live)
    if value is UnknownValue.UNKNOWN:
        assert op in ("MAX", "MIN")
        assert len(steps) > 32
    elif op == "SUM":
        assert value == (expected if expected.denominator == 1 else float(expected))
    else:
        assert value == expected


@given(histories(), OPS, st.randoms())
def test_order_does_not_matter(history: tuple[list[tuple[float, int]], list[float]], op: Any, random: Any) -> None:
    steps, live = history
    shuffled = list(live)
    random.shuffle(shuffled)
    statistic = STATISTICS[op]
    one = statistic.value([state] if (state := run(statistic, steps)) is not None else [])
    other = statistic.value([state] if (state := run(statistic, [(each, 1) for each in shuffled])) is not None else [])
    assert one == other or one is UnknownValue.UNKNOWN


@given(st.lists(NUMBERS, max_size=20), st.lists(NUMBERS, max_size=10), OPS)
def test_apply_then_retract_is_the_identity(before: list[float], added: list[float], op: Any) -> None:
    statistic = STATISTICS[op]
    state = run(statistic, [(each, 1) for each in before])
    after = state
    for number, times in [*((each, 1) for each in added), *((each, -1) for each in reversed(added))]:
        after = statistic.add(after, number, times)
    assert orjson.dumps(after) == orjson.dumps(state)


@given(st.lists(st.lists(NUMBERS, min_size=1, max_size=8), min_size=1, max_size=5), OPS)
def test_parts_together_are_the_whole(parts: list[list[float]], op: Any) -> None:
    statistic = STATISTICS[op]
    states = [run(statistic, [(each, 1) for each in part]) for part in parts]
    whole = run(statistic, [(each, 1) for part in parts for each in part])
    assert statistic.value(states) == statistic.value([whole])


@given(st.lists(st.integers(-20, 20), max_size=80), st.data(), st.booleans())
def test_a_small_extreme_is_never_wrong(applied: list[int], data: st.DataObject, largest: bool) -> None:
    statistic = Extreme(largest=largest, capacity=3)
    state = None
    live = Counter[int]()
    for each in applied:
        state = statistic.add(state, each, 1)
        live[each] += 1
        if live.total() and data.draw(st.booleans()):
            retracted = data.draw(st.sampled_from(sorted(live.elements())))
            state = statistic.add(state, retracted, -1)
            live -= Counter([retracted])
        assert state is None or len(state[0]) <= 3
        value = statistic.value([] if state is None else [state])
        best = (max if largest else min)(live.elements(), default=None)
        assert value in (best, UnknownValue.UNKNOWN)


def test_an_exhausted_extreme_is_unknown_until_a_better_value() -> None:
    statistic = Extreme(largest=True, capacity=2)
    state = run(statistic, [(each, 1) for each in (1, 2, 3, 4)])
    for each in (4, 3):
        state = statistic.add(state, each, -1)
    assert statistic.value([state]) is UnknownValue.UNKNOWN
    assert statistic.value([statistic.add(state, 2.5, 1)]) == 2.5
    emptied = statistic.add(statistic.add(state, 1, -1), 2, -1)
    assert emptied is None


def test_a_retraction_may_come_before_its_application() -> None:
    statistic = STATISTICS["MAX"]
    state = statistic.add(statistic.add(None, 9, -1), 5, 1)
    assert statistic.value([state]) == 5
    assert statistic.value([statistic.add(state, 9, 1)]) == 5


@pytest.mark.parametrize("op", ["SUM", "AVG", "MAX", "MIN"])
def test_a_value_that_is_no_number_is_refused(op: Any) -> None:
    with pytest.raises(RefusedChangeError, match="not_a_number"):
        STATISTICS[op].add(None, "many", 1)


def test_integers_stay_integers_and_sums_do_not_drift() -> None:
    sums = STATISTICS["SUM"]
    assert sums.value([run(sums, [(2**53, 1), (1, 1), (1, 1)])]) == 2**53 + 2
    assert sums.value([run(sums, [(0.1, 1)] * 10)]) == math.fsum([0.1] * 10)
    assert sums.value([run(sums, [(5, 1), (-5, 1)])]) == 0


def test_states_do_not_grow_with_history() -> None:
    for op, statistic in STATISTICS.items():
        sizes = [len(orjson.dumps(run(statistic, [((each * 7919) % 10007 / 8, 1) for each in range(count)]))) for count in (200, 4000)]
        assert sizes[1] <= sizes[0] + 40, op
