"""Times that callers name."""

from datetime import UTC, datetime

import pytest
from pydantic import TypeAdapter, ValidationError

from memory.records.limits import RequestTime

ADAPTER: TypeAdapter[datetime] = TypeAdapter(RequestTime)


@pytest.mark.parametrize("year", ["2024", 2024, 2024.0, "1", 0])
def test_a_year_is_not_read_as_seconds(year: object) -> None:
    with pytest.raises(ValidationError, match="would be a time in 1970: write ISO 8601"):
        ADAPTER.validate_python(year)


@pytest.mark.parametrize("time", ["2024-05-06T18:00:00Z", 1715018400, "1715018400", 1715018400000, datetime(2024, 5, 6, 18, tzinfo=UTC)])
def test_other_times_of_requests_are_read(time: object) -> None:
    assert ADAPTER.validate_python(time) == datetime(2024, 5, 6, 18, tzinfo=UTC)


def test_a_time_before_1970_is_read() -> None:
    assert ADAPTER.validate_python("1950-01-01T00:00:00Z").year == 1950
