"""Sums are exact, whatever the order, and retractions are exact, too."""

from fractions import Fraction

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.aggregates import exact_sum
from operators.errors import RefusedChangeError

NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)


def total_of(numbers: list[int | float], times: int = 1) -> exact_sum.ExactSum | None:
    state: exact_sum.ExactSum | None = None
    for number in numbers:
        state = exact_sum.add(state, exact_sum.as_number(number), times)
    return state


@given(st.lists(NUMBERS, min_size=1))
def test_the_sum_is_the_sum_of_fractions(numbers: list[int | float]) -> None:
    state = total_of(numbers)
    assert state is not None
    assert exact_sum.fraction_of(state) == sum(map(Fraction, numbers))
    assert exact_sum.count_of(state) == len(numbers)


@given(st.lists(NUMBERS), st.randoms())
def test_equal_contents_are_equal_bytes_in_any_order(numbers: list[int | float], random: object) -> None:
    shuffled = list(numbers)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert orjson.dumps(total_of(shuffled)) == orjson.dumps(total_of(numbers))


@given(st.lists(NUMBERS), st.lists(NUMBERS))
def test_a_retraction_leaves_no_trace(kept: list[int | float], retracted: list[int | float]) -> None:
    state = total_of([*kept, *retracted])
    for each in retracted:
        state = exact_sum.add(state, exact_sum.as_number(each), -1)
    assert state == total_of(kept)


@given(st.lists(NUMBERS, max_size=50))
def test_a_state_is_json_of_bounded_size(numbers: list[int | float]) -> None:
    raw = orjson.dumps(total_of(numbers))
    assert orjson.loads(raw) == total_of(numbers)
    assert len(raw) < 700


def test_adding_doubles_does_not_round() -> None:
    state = total_of([0.1] * 10 + [1e300, -1e300])
    assert state is not None
    assert exact_sum.fraction_of(state) == 10 * Fraction(0.1)


@pytest.mark.parametrize("value", [None, "3", True, [], {}, float("nan"), float("inf"), 2**63, -(2**63) - 1])
def test_a_value_that_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(RefusedChangeError, match="not_a_number"):
        exact_sum.as_number(value)


@given(st.integers(-(2**53), 2**53))
def test_a_whole_float_is_its_integer(number: int) -> None:
    assert type(exact_sum.as_number(float(number))) is int
    assert exact_sum.as_number(float(number)) == number


def test_a_number_beyond_doubles_has_no_rounding() -> None:
    assert exact_sum.rounded(Fraction(10**400 + 1, 2)) is None
    assert exact_sum.rounded(Fraction(7)) == 7
    assert exact_sum.rounded(Fraction(1, 2)) == 0.5
