"""Statistics over the last days: exact for whole days, in any order, without state of the days before."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from operators.statistics import DAILY_STATISTICS, Days, add_on_day

EVENTS = st.lists(st.tuples(st.integers(0, 40), st.integers(-9, 9)), min_size=1, max_size=40)
LENGTH = 7


def run(op: Any, events: list[tuple[int, int]]) -> tuple[Any, int]:
    days: Days | None = None
    newest = -1
    for day, value in events:
        newest = max(newest, day)
        days = add_on_day(DAILY_STATISTICS[op], days, value, 1, day=day, newest=newest, length=LENGTH)
        assert days is None or len(days) <= LENGTH
    return DAILY_STATISTICS[op].value(list((days or {}).values())), newest


@given(EVENTS, st.randoms())
def test_only_the_last_days_count_whatever_the_order(events: list[tuple[int, int]], random: Any) -> None:
    shuffled = list(events)
    random.shuffle(shuffled)
    newest = max(day for day, _ in events)
    inside = [value for day, value in events if day > newest - LENGTH]
    assert run("SUM", shuffled) == (sum(inside), newest)
    assert run("COUNT", shuffled) == (len(inside), newest)
    assert run("MAX", shuffled) == (max(inside), newest)
    assert run("MIN", shuffled) == (min(inside), newest)


@given(EVENTS, st.integers(0, 40), st.integers(-9, 9))
def test_a_retraction_leaves_no_trace(events: list[tuple[int, int]], day: int, value: int) -> None:
    statistic = DAILY_STATISTICS["SUM"]
    newest = max(day, *(each for each, _ in events))
    days: Days | None = None
    for each, number in events:
        days = add_on_day(statistic, days, number, 1, day=each, newest=newest, length=LENGTH)
    added = add_on_day(statistic, days, value, 1, day=day, newest=newest, length=LENGTH)
    assert add_on_day(statistic, added, value, -1, day=day, newest=newest, length=LENGTH) == days
