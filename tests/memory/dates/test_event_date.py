from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from memory.dates.event_date import UNKNOWN_DATE, EventDate, last_moment, middle_moment, months_of, shown_date
from memory.records import EventFields

DAYS = st.dates(min_value=date(1000, 1, 1), max_value=date(8999, 12, 31))
DATES = st.just(UNKNOWN_DATE) | st.tuples(DAYS, DAYS).map(lambda days: EventDate(min(days), max(days)))
MOMENT = datetime(2023, 5, 8, 13, 56, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2024-02-29", date(2024, 2, 29), date(2024, 2, 29)),
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29)),
        ("2023", date(2023, 1, 1), date(2023, 12, 31)),
        ("2022-06/2022-08", date(2022, 6, 1), date(2022, 8, 31)),
        ("2019/2021", date(2019, 1, 1), date(2021, 12, 31)),
        ("2023-04-28/2023-05-04", date(2023, 4, 28), date(2023, 5, 4)),
    ],
)
def test_a_date_names_its_first_and_last_day(text: str, first: date, last: date) -> None:
    assert EventDate.parse(text) == EventDate(first, last)
    assert EventDate.parse(text).text == text


@pytest.mark.parametrize(
    ("text", "shortest"),
    [
        ("2023-05-01/2023-05-31", "2023-05"),
        ("2023-01/2023-12", "2023"),
        ("2023/2023-05-08", "2023-01-01/2023-05-08"),
        ("2020/2020", "2020"),
    ],
)
def test_equal_days_have_one_text(text: str, shortest: str) -> None:
    assert EventDate.parse(text).text == shortest


@given(DATES)
def test_every_date_is_read_as_it_is_written(known: EventDate) -> None:
    assert EventDate.parse(known.text) == known


@pytest.mark.parametrize(
    "text", ["", "May 2023", "2023-13", "2023-02-30", "23", "2023-5", "2023-05-08/", "2023/2022", "0999", "9000", "2020/2021/2022", "२०२३"]
)
def test_an_invalid_date_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"date|month|day|year"):
        EventDate.parse(text)
    with pytest.raises(ValidationError, match="date"):
        EventFields(date=text)


def test_a_record_has_the_shortest_form_of_a_date() -> None:
    assert EventFields(date="2023-05-01/2023-05-31").date == "2023-05"


@given(DATES, DAYS, st.integers(min_value=-14, max_value=14))
def test_a_date_ends_with_its_last_day(known: EventDate, said_on: date, hours: int) -> None:
    zone = timezone(timedelta(hours=hours))
    said_at = datetime(said_on.year, said_on.month, said_on.day, 12, tzinfo=zone)
    begins_at = known.begins_at(zone) or said_at
    last = last_moment(begins_at, known.text)
    assert begins_at <= last
    assert last.date() == (known.last or said_on)
    assert (last + timedelta(microseconds=1)).date() != last.date() or known.is_unknown


def test_a_moment_is_its_own_middle_and_end() -> None:
    assert middle_moment(MOMENT, None) == last_moment(MOMENT, None) == MOMENT
    assert middle_moment(MOMENT, "unknown") == MOMENT


@pytest.mark.parametrize(
    ("text", "day"), [("2023-05-08", "2023-05-08"), ("2024-03", "2024-03-16"), ("2023-05-01/2023-05-07", "2023-05-04")]
)
def test_the_middle_is_half_the_days_away(text: str, day: str) -> None:
    begins_at = EventDate.parse(text).begins_at(UTC)
    assert begins_at is not None
    assert middle_moment(begins_at, text).date().isoformat() == day


@pytest.mark.parametrize(
    ("text", "months"),
    [
        (None, {5}),
        ("2023-05-08", {5}),
        ("2022-12-29/2023-01-04", {12, 1}),
        ("2022-06/2022-08", {6, 7, 8}),
        ("2023", set()),
        ("2022-11/2023-10", set()),
        ("unknown", set()),
    ],
)
def test_a_year_or_more_names_no_month(text: str | None, months: set[int]) -> None:
    assert months_of(MOMENT, text) == months


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (None, "2023-05-08"),
        ("2023-05", "2023-05"),
        ("2023-05-01/2023-05-07", "2023-05-01 to 2023-05-07"),
        ("unknown", "some day (said 2023-05-08)"),
    ],
)
def test_a_date_is_shown_with_its_known_precision(text: str | None, shown: str) -> None:
    assert shown_date(MOMENT, text) == shown


@pytest.mark.parametrize(("first", "last"), [(date(2023, 5, 8), None), (None, date(2023, 5, 8)), (date(2023, 5, 8), date(2023, 5, 7))])
def test_half_a_date_or_one_reversed_is_none(first: date | None, last: date | None) -> None:
    with pytest.raises(ValueError, match=r"day|ends"):
        EventDate(first, last)


def test_the_zone_is_the_speakers() -> None:
    assert EventDate.parse("2023-05").begins_at(UTC) == datetime(2023, 5, 1, tzinfo=UTC)
    assert UNKNOWN_DATE.begins_at(UTC) is None
