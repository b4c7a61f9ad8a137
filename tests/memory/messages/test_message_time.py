import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import MalformedRecordError
from memory.records import Message

_MESSAGE = {"tenant": "acme", "user": "ida", "session": "s1", "text": "Hello."}


@pytest.mark.parametrize(
    ("time", "advice"),
    [
        ("2023-11-02T09:15:00", "it has no UTC offset, so its moment is unknown: append Z if it is UTC"),
        ("2023-11-02 09:15:00.250", "it has no UTC offset"),
        ("2023-11-02", "a day needs a time, too: write 2023-11-02T00:00:00Z"),
        ("2023-13-02", "month value is outside expected range of 1-12; write ISO 8601"),
        (1698916500000000, "it seems to count microseconds since 1970: divide it by 1,000"),
        ("1698916500000000000", "it seems to count nanoseconds since 1970: divide it by 1,000,000"),
        ("2023-11-02T09:15:00+01:00[Europe/Paris]", "write it into time_zone: 'Europe/Paris'"),
        ("2023-11-02T24:00:00Z", "write 00:00 of the next day"),
        ("last Tuesday", "; write ISO 8601 with a UTC offset, such as"),
        (float("nan"), "; write ISO 8601 with a UTC offset, such as"),
        (True, "; write ISO 8601 with a UTC offset, such as"),
        (["2023-11-02T09:15:00Z"], "; write ISO 8601 with a UTC offset, such as"),
        ("0999-01-01T00:00:00Z", "the year must be between"),
    ],
)
def test_a_refused_time_names_the_accepted_form(time: object, advice: str) -> None:
    with pytest.raises(MalformedRecordError, match=f"event_time: .*{re.escape(advice)}"):
        Message.from_fields({**_MESSAGE, "event_time": time})


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2)))
def test_any_time_is_read_or_refused_by_name(time: object) -> None:
    refusal = ""
    try:
        message = Message.from_fields({**_MESSAGE, "event_time": time})
    except MalformedRecordError as error:
        refusal = str(error)
    assert "event_time: " in refusal if refusal else message.event_time.tzinfo is not None
