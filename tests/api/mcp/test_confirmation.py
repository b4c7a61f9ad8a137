"""Confirmation codes: valid for the same caller, action and state, for ten minutes."""

from hypothesis import given
from hypothesis import strategies as st

from api.mcp.confirmation import VALID_S, confirmation_code, is_confirmed

PARTS = st.lists(st.text(max_size=20), min_size=1, max_size=4)
NOW = 1_700_000_000.0


@given(st.text(min_size=1), PARTS, st.floats(0, VALID_S - 1))
def test_a_code_confirms_only_its_own_operation(key: str, what: list[str], passed: float) -> None:
    assert is_confirmed(confirmation_code(key, *what, now=NOW), key, *what, now=NOW + passed)


@given(PARTS, PARTS)
def test_a_code_confirms_nothing_else(what: list[str], other: list[str]) -> None:
    code = confirmation_code("k", *what, now=NOW)
    assert is_confirmed(code, "k", *other, now=NOW) == (what == other)
    assert not is_confirmed(code, "another key", *what, now=NOW)


@given(st.text(max_size=60))
def test_any_other_text_is_no_code(code: str) -> None:
    assert not is_confirmed(code, "k", "memory", "m", "1", now=NOW)


def test_a_code_expires() -> None:
    code = confirmation_code("k", "user", "ann", now=NOW)
    assert not is_confirmed(code, "k", "user", "ann", now=NOW + VALID_S + 1)
    assert not is_confirmed(code, "k", "user", "ann", now=NOW - 2), "from a clock that is ahead"
