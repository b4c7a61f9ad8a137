"""Sums are exact, whatever the order, and take back what they were given."""

from fractions import Fraction

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators import tally
from operators.errors import RefusedChangeError

NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)


def tally_of(numbers: list[int | float], times: int = 1) -> tally.Tally | None:
    state: tally.Tally | None = None
    for each in numbers:
        state = tally.add(state, tally.number_of(each), times)
    return state


@given(st.lists(NUMBERS, min_size=1))
def test_the_sum_is_the_sum_of_fractions(numbers: list[int | float]) -> None:
    state = tally_of(numbers)
    assert state is not None
    assert tally.sum_of(state) == sum(map(Fraction, numbers))
    assert tally.count_of(state) == len(numbers)


@given(st.lists(NUMBERS), st.randoms())
def test_equal_contents_are_equal_bytes_in_any_order(numbers: list[int | float], random: object) -> None:
    shuffled = list(numbers)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert orjson.dumps(tally_of(shuffled)) == orjson.dumps(tally_of(numbers))


@given(st.lists(NUMBERS), st.lists(NUMBERS))
def test_what_is_taken_back_leaves_no_trace(kept: list[int | float], gone: list[int | float]) -> None:
    state = tally_of([*kept, *gone])
    for each in gone:
        state = tally.add(state, tally.number_of(each), -1)
    assert state == tally_of(kept)


@given(st.lists(NUMBERS, max_size=50))
def test_a_state_is_json_of_bounded_size(numbers: list[int | float]) -> None:
    raw = orjson.dumps(tally_of(numbers))
    assert orjson.loads(raw) == tally_of(numbers)
    assert len(raw) < 700


def test_ten_tenths_are_what_the_doubles_sum_to_not_what_rounding_makes_of_them() -> None:
    state = tally_of([0.1] * 10 + [1e300, -1e300])
    assert state is not None
    assert tally.sum_of(state) == 10 * Fraction(0.1)


@pytest.mark.parametrize("value", [None, "3", True, [], {}, float("nan"), float("inf"), 2**63, -(2**63) - 1])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(RefusedChangeError, match="not_a_number"):
        tally.number_of(value)


@given(st.integers(-(2**53), 2**53))
def test_a_whole_float_is_its_integer(number: int) -> None:
    assert type(tally.number_of(float(number))) is int
    assert tally.number_of(float(number)) == number


def test_what_is_too_large_for_a_double_is_said_so() -> None:
    assert tally.rounded(Fraction(10**400 + 1, 2)) is None
    assert tally.rounded(Fraction(7)) == 7
    assert tally.rounded(Fraction(1, 2)) == 0.5
