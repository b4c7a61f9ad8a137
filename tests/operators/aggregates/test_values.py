"""DISTINCT_COUNT, TOP_K, LATEST and LIST against plain Python."""

import math
from collections import Counter
from typing import Any, cast
from unicodedata import normalize

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from operators.aggregates.distinct_count import DistinctCount
from operators.aggregates.newest import MAX_VALUE
from operators.aggregates.top_k import TopK
from operators.errors import RefusedChangeError
from operators.operator import AdditiveOperator, Configuration, Operand, UnknownValue
from tests.operators.histories import VALUES, Step, configured, histories, operand, run


def distinct(value: Any) -> bytes:
    """A value as JSON. Strings that differ only in Unicode's form are equal, as the operators count them."""
    return orjson.dumps(normalize("NFC", value) if isinstance(value, str) else value)


@given(histories("DISTINCT_COUNT", longest=60))
def test_few_different_values_are_counted_exactly(history: Any) -> None:
    steps, left = history
    counter = configured("DISTINCT_COUNT")
    state = run(counter, steps)
    assert (0 if state is None else counter.value(state)) == len({distinct(value) for _, _, value, _ in left})


def test_many_different_values_are_estimated() -> None:
    counter = configured("DISTINCT_COUNT")
    steps = [(f"e{each}", 0, f"value {each % 20_000}", 1) for each in range(40_000)]
    state = run(counter, steps)
    # Four standard errors of 1 / sqrt(254).
    assert counter.value(state) == pytest.approx(20_000, rel=4 / math.sqrt(254))
    assert counter.value(run_on(counter, state, steps[10_000:20_000], times=-1)) == pytest.approx(20_000, rel=4 / math.sqrt(254))
    remaining = run_on(counter, state, [*steps[10_000:20_000], *steps[30_000:]], times=-1)
    assert counter.value(remaining) == pytest.approx(10_000, rel=0.4)


def run_on(operator: Any, state: Any, steps: list[Any], *, times: int) -> Any:
    for source_id, day, value, _ in steps:
        state = operator.add(state, operand(source_id, day, value, newest=day), times)
    return state


def test_the_items_of_a_list_count_each() -> None:
    counter = configured("DISTINCT_COUNT")
    assert counter.value(run(counter, [("a", 0, ["x", "y"], 1), ("b", 0, ["y", 1, 1.0], 1)])) == 3


@pytest.mark.parametrize("op", ["DISTINCT_COUNT", "TOP_K"])
def test_either_spelling_of_a_value_counts_as_one(op: str) -> None:
    operator = configured(op)
    composed, decomposed = "Café", normalize("NFD", "Café")
    state = run(operator, [("a", 0, [composed, decomposed], 1), ("b", 0, "tea", 1)])
    assert operator.value(state) == (2 if op == "DISTINCT_COUNT" else [composed, "tea"])


@given(st.lists(st.integers(0, 400), max_size=300))
def test_a_small_sketch_counts_the_smallest_hashes(values: list[int]) -> None:
    small = DistinctCount(Configuration(value_type="int64", parameters={}), 16)
    exact = DistinctCount(Configuration(value_type="int64", parameters={}), 1000)
    steps = [(str(index), 0, value, 1) for index, value in enumerate(values)]
    state, all_hashes = run(small, steps), run(exact, steps)
    if state is None:
        assert not values
        return
    assert sorted(state[1]) == sorted(all_hashes[1])[: len(state[1])]
    assert len(state[1]) == min(16, len(set(values)))


@given(histories("TOP_K", longest=60), st.integers(1, 4))
@example(history=([("a", 0, "ann", 1), ("b", 0, "\u037e", 1)], [("a", 0, "ann", 1), ("b", 0, "\u037e", 1)]), k=1)
def test_the_most_frequent_come_first(history: Any, k: int) -> None:
    steps, left = history
    top = configured("TOP_K", K=k)
    state = run(top, steps)
    counts = Counter(distinct(value) for _, _, value, _ in left)
    expected = sorted(counts, key=lambda item: (-counts[item], item.decode()))[:k]
    value: Any = top.value(state) if state else []
    assert [distinct(each) for each in value] == expected


@given(st.lists(st.integers(0, 40), max_size=200))
def test_a_frequent_value_is_never_missed(noise: list[int]) -> None:
    top = TopK(Configuration(value_type="int64", parameters={"K": 1}), 8)
    frequent = len(noise) // 4 + 1
    values = list(noise)
    for index in range(frequent):
        values.insert(index * 4, 99)
    state = run(top, [(str(index), 0, value, 1) for index, value in enumerate(values)])
    counts = Counter(values)
    floor, kept = state
    assert len(kept) <= 8
    assert counts[99] <= kept["99"] <= counts[99] + floor


def _newest_first(step: Step) -> tuple[int, str]:
    return -step[1], step[0]


@given(histories("LIST", longest=24))
def test_a_list_has_the_newest_oldest_first(history: Any) -> None:
    steps, left = history
    newest = configured("LIST", Limit=3)
    state = run(newest, steps)
    ordered = sorted(left, key=_newest_first)
    expected = [value for _, _, value, _ in ordered[:3]][::-1]
    assert (newest.value(state) if state else None) == (expected or None)


@given(histories("LATEST", longest=16))
def test_the_latest_is_the_newest_by_event_time(history: Any) -> None:
    steps, left = history
    latest = configured("LATEST")
    state = run(latest, steps)
    ordered = sorted(left, key=_newest_first)
    assert (latest.value(state) if state else None) == (ordered[0][2] if ordered else None)


@st.composite
def ordered_values(draw: st.DrawFn) -> list[tuple[Operand, int]]:
    """Events of few times and orders, some of which were corrected: each with the number of its applications less its retractions."""
    changes = []
    for number in range(draw(st.integers(0, 8))):
        time, order = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        said = draw(st.lists(VALUES["LATEST"], min_size=1, max_size=3, unique_by=orjson.dumps))
        operands = [Operand(value, time, f"e{number}", 9, order=order) for value in said]
        changes += [(each, times) for each in operands[:-1] for times in (1, -1)]
        changes.append((operands[-1], 1))
    return changes


@pytest.mark.parametrize("op", ["LATEST", "LIST"])
@given(changes=ordered_values(), random=st.randoms())
def test_orders_decide_between_events_of_one_time(op: str, changes: list[tuple[Operand, int]], random: Any) -> None:
    """In whichever order they come: also where what an event said before its correction comes last."""
    operator = cast(AdditiveOperator, configured(op))
    random.shuffle(changes)
    state = None
    for each, times in changes:
        state = orjson.loads(orjson.dumps(operator.add(state, each, times)))
    taken_back = {(each.source_id, distinct(each.value)) for each, times in changes if times < 0}
    standing = [each for each, _ in changes if (each.source_id, distinct(each.value)) not in taken_back]
    newest = [each.value for each in sorted(standing, key=lambda each: (-each.time, -each.order, each.source_id))]
    expected = newest[0] if op == "LATEST" and newest else newest[::-1] or None
    assert (operator.value(state) if state else None) == expected


@pytest.mark.parametrize(("newer", "value"), [(16, "right"), (17, UnknownValue.UNKNOWN)])
def test_a_corrected_event_is_kept_or_dropped_completely(newer: int, value: Any) -> None:
    latest = configured("LATEST")
    later = [(f"n{number:02d}", 2, number, 1) for number in range(newer)]
    # The correction of "x" comes before what it corrects.
    state = run(latest, [("x", 1, "wrong", -1), ("x", 1, "right", 1), *later, ("x", 1, "wrong", 1)])
    assert latest.value(run_on(latest, state, later, times=-1)) == value


@given(
    days=st.lists(st.integers(0, 5), min_size=18, max_size=30), retracted=st.integers(15, 18), late=st.lists(st.integers(0, 5), max_size=3)
)
@example(days=[*range(6)] * 3, retracted=16, late=[])
@example(days=[*range(6)] * 3, retracted=17, late=[0])
def test_the_latest_beyond_its_reserve_is_right_or_unknown(days: list[int], retracted: int, late: list[int]) -> None:
    latest = configured("LATEST")
    steps = sorted(((f"e{number:02d}", day, number, 1) for number, day in enumerate(days)), key=_newest_first)
    undone = [(name, day, value, -1) for name, day, value, _ in steps[:retracted]]
    after = [(f"x{number:02d}", day, f"late {number}", 1) for number, day in enumerate(late)]
    state = run(latest, [*steps[::-1], *undone, *after])
    value = latest.value(state) if state else None
    left = sorted([*steps[retracted:], *after], key=_newest_first)
    assert value == (left[0][2] if left else None) or (value is UnknownValue.UNKNOWN and retracted > 16)


def test_an_exhausted_latest_is_unknown_until_a_newer_value() -> None:
    latest = configured("LATEST")
    steps = [(f"e{day:02d}", day, f"job {day}", 1) for day in range(30)]
    state = run(latest, [*steps, *((name, day, value, -1) for name, day, value, _ in steps[5:])])
    assert latest.value(state) is UnknownValue.UNKNOWN
    assert latest.value(latest.apply(state, operand("new", 40, "job B", newest=40))) == "job B"


@pytest.mark.parametrize(("op", "value"), [("LATEST", "x" * (MAX_VALUE + 1)), ("LIST", "x" * (MAX_VALUE + 1)), ("TOP_K", "x" * 300)])
def test_a_value_too_long_is_refused(op: str, value: str) -> None:
    with pytest.raises(RefusedChangeError, match="value_too_long"):
        configured(op).apply(None, operand("e", 0, value, newest=0))
