"""Reading the header ``Retry-After``."""

from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from models.openai_errors import retry_after_seconds

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def test_a_retry_after_date_is_understood() -> None:
    assert retry_after_seconds("Mon, 06 May 2024 12:00:20 GMT", now=NOON) == 20
    assert retry_after_seconds("Mon, 06 May 2024 11:00:00 GMT", now=NOON) == 0
    assert retry_after_seconds("1.5", now=NOON) == 1.5
    assert retry_after_seconds(None, now=NOON) is None
    assert retry_after_seconds("inf", now=NOON) is None


@given(st.text(max_size=40))
@example("Mon, 06 May 99999999999999999999 12:00:20 GMT")
@example("Mon, 06 May 2024 12:00:20 +99999999999999999999")
def test_no_retry_after_header_raises(header: str) -> None:
    assert (retry_after_seconds(header, now=NOON) or 0) >= 0
