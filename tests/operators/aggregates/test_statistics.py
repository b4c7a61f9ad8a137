"""SUM, COUNT, AVG, MAX, MIN, RATE and EWMA against plain Python, under random interleavings of apply and retract."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.schema.time_window import TimeWindow
from operators.aggregates.statistics import Max, Min
from operators.errors import RefusedChangeError
from operators.operator import Configuration, UnknownValue
from tests.operators.histories import DAY, configured, histories, operand, run

ORACLES: dict[str, Any] = {
    "COUNT": len,
    "SUM": lambda live: sum(map(Fraction, live)),
    "AVG": lambda live: float(sum(map(Fraction, live)) / len(live)),
    "MAX": max,
    "MIN": min,
}


@pytest.mark.parametrize("op", sorted(ORACLES))
@given(data=st.data())
def test_the_value_is_that_of_the_remaining_events(op: str, data: st.DataObject) -> None:
    steps, left = data.draw(histories(op, longest=60))
    operator = configured(op)
    state = run(operator, steps)
    live = [value for _, _, value, _ in left]
    if not live:
        assert state is None
        return
    value = operator.value(state)
    expected = ORACLES[op](live)
    if value is UnknownValue.UNKNOWN:
        assert op in ("MAX", "MIN")
        assert len(steps) > 32
    elif op == "SUM":
        assert value == (expected if expected.denominator == 1 else float(expected))
    else:
        assert value == expected


@pytest.mark.parametrize(("kind", "best_of"), [(Max, max), (Min, min)])
@given(applied=st.lists(st.integers(-20, 20), max_size=80), data=st.data())
def test_a_small_extreme_is_never_wrong(kind: Any, best_of: Any, applied: list[int], data: st.DataObject) -> None:
    extreme = kind(Configuration(value_type="int64", parameters={}), 3)
    state = None
    live = Counter[int]()
    for each in applied:
        state = extreme.apply(state, operand("e", 0, each, newest=0))
        live[each] += 1
        if live.total() and data.draw(st.booleans()):
            retracted = data.draw(st.sampled_from(sorted(live.elements())))
            state = extreme.retract(state, operand("e", 0, retracted, newest=0))
            live -= Counter([retracted])
        assert state is None or len(state[0]) <= 3
        value = None if state is None else extreme.value(state)
        assert value in (best_of(live.elements(), default=None), UnknownValue.UNKNOWN)


def test_an_exhausted_extreme_is_unknown_until_a_better_value() -> None:
    extreme = Max(Configuration(value_type="int64", parameters={}), 2)
    state = run(extreme, [(str(each), 0, each, 1) for each in (1, 2, 3, 4)] + [(str(each), 0, each, -1) for each in (4, 3)])
    assert extreme.value(state) is UnknownValue.UNKNOWN
    assert extreme.value(extreme.apply(state, operand("e", 0, 2.5, newest=0))) == 2.5
    emptied = extreme.retract(extreme.retract(state, operand("1", 0, 1, newest=0)), operand("2", 0, 2, newest=0))
    assert emptied is None


@pytest.mark.parametrize("op", ["SUM", "AVG", "MAX", "MIN", "EWMA"])
def test_a_value_that_is_no_number_is_refused(op: str) -> None:
    with pytest.raises(RefusedChangeError, match="not_a_number"):
        configured(op).apply(None, operand("e", 0, "many", newest=0))


def test_integers_stay_integers_and_sums_do_not_drift() -> None:
    sums = configured("SUM")

    def total(*numbers: float) -> Any:
        return sums.value(run(sums, [(str(index), 0, number, 1) for index, number in enumerate(numbers)]))

    assert total(2**53, 1, 1) == 2**53 + 2
    assert total(*[0.1] * 10) == math.fsum([0.1] * 10)
    assert total(5, -5) == 0


@pytest.mark.parametrize(
    ("window", "per", "expected"),
    [
        (TimeWindow(7), "day", 2.0),
        (TimeWindow(7), "week", 14.0),
        (TimeWindow(24, "hour"), "hour", 14 / 24),
        (TimeWindow(1, "week"), "day", 2.0),
    ],
)
def test_a_rate_is_a_count_over_the_window(window: TimeWindow, per: Any, expected: float) -> None:
    rate = configured("RATE", window=window, Per=per)
    assert rate.value(run(rate, [(str(each), 0, None, 1) for each in range(14)])) == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(0, 30), st.floats(-1e6, 1e6)), min_size=1, max_size=30), st.integers(1, 20))
def test_a_decayed_mean_weighs_by_age(events: list[tuple[int, float]], days: int) -> None:
    ewma = configured("EWMA", HalfLife=TimeWindow(days))
    state = run(ewma, [(f"e{index:02d}", day, number, 1) for index, (day, number) in enumerate(events)])
    newest = max(day for day, _ in events)
    weights = [2.0 ** ((day - newest) / days) for day, _ in events]
    expected = math.fsum(weight * number for weight, (_, number) in zip(weights, events, strict=True)) / math.fsum(weights)
    assert ewma.value(state) == pytest.approx(expected, rel=1e-6, abs=1e-3)


def test_fully_decayed_events_leave_the_state() -> None:
    ewma = configured("EWMA", HalfLife=TimeWindow(1))
    state = run(ewma, [("old", 0, 1000.0, 1), ("new", 50, 1.0, 1)])
    assert ewma.value(state) == 1.0
    assert len(state) == 1
    assert ewma.prune(state, 200 * DAY) is None
