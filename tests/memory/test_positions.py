"""A position in a log is written and read in one form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import PositionFormatError
from memory.headers import ORIGIN, origin_of
from memory.positions import LogPosition

NUMBERS = st.integers(0, 2**63 - 1)
POSITIONS = st.builds(LogPosition, st.from_regex(r"[A-Za-z0-9._-]{1,20}", fullmatch=True), NUMBERS, NUMBERS)


@given(POSITIONS)
def test_a_position_is_read_as_it_is_written(position: LogPosition) -> None:
    assert LogPosition.parse(str(position)) == position
    assert LogPosition.parse_within(position.topic, position.within_topic) == position


def test_positions_are_ordered_by_partition_then_offset() -> None:
    one, two, three = (LogPosition("t", *each) for each in ((0, 10), (1, 2), (1, 10)))
    assert sorted([three, one, two]) == [one, two, three]


@pytest.mark.parametrize("text", ["", "t", "t/3", "t/3/", "t//3", "/3/4", "t/-1/3", "t/3/x", "t/3/4/5", "t/\u0663/4", "t/3/" + "9" * 20])
def test_a_malformed_position_is_refused(text: str) -> None:
    with pytest.raises(PositionFormatError, match="partition/offset"):
        LogPosition.parse(text)


def test_the_last_readable_origin_header_counts() -> None:
    assert origin_of([(ORIGIN, b"t/0/1"), ("other", b"x"), (ORIGIN, b"t/0/2")]) == LogPosition("t", 0, 2)
    assert origin_of([("other", b"t/0/1")]) is None
    assert origin_of([(ORIGIN, b"somewhere")]) is None
    assert origin_of([(ORIGIN, b"\xff")]) is None
