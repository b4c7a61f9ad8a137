"""A table of dates in sentences: each is read correctly, is unknown, or is no date."""

import json
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.dates.event_date import EventDate
from memory.dates.mentions import resolve_dates, unclear_dates

MONDAY = date(2024, 5, 6)
CASES = [json.loads(line) for line in (Path(__file__).parent / "date_cases.jsonl").read_text().splitlines()]


def dates(text: str, day: date = MONDAY) -> list[str]:
    known = [EventDate(each.first, each.last).text for each in resolve_dates(text, day)]
    return known + ["unknown"] * len(unclear_dates(text, day))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"])
def test_each_case_has_its_date(case: dict[str, str]) -> None:
    assert dates(case["text"]) == ([] if case["date"] == "none" else [case["date"]])


DAYS = st.dates(date(1900, 1, 1), date(2099, 12, 31))
FORMS = ["{0:%Y-%m-%d}", "{0.day} {0:%B %Y}", "{0:%B} {0.day}, {0.year}", "{0:%A}, {0.day} {0:%B %Y}", "the {0.day}th of {0:%B} {0.year}"]
WORDS = st.lists(
    st.sampled_from(["the", "dog", "walked", "slowly", "home", "we", "saw", "green", "trees", "Anna", "hello"]), max_size=5
).map(" ".join)


@given(DAYS, st.sampled_from(FORMS), WORDS, WORDS)
def test_a_written_day_is_read_back(day: date, form: str, before: str, after: str) -> None:
    assert dates(f"{before} {form.format(day)} {after}".strip()) == [day.isoformat()]


@given(DAYS, DAYS)
def test_a_written_span_is_read_back(one: date, other: date) -> None:
    first, last = sorted((one, other))
    expected = EventDate(first, last).text
    assert dates(f"{first:%Y-%m-%d} to {last:%Y-%m-%d}") == [expected]
    assert dates(f"from {first.day} {first:%B %Y} to {last.day} {last:%B %Y}") == [expected]


@given(DAYS)
def test_a_wrong_weekday_makes_it_unknown(day: date) -> None:
    other = day + timedelta(days=1)
    assert dates(f"on {other:%A}, {day.day} {day:%B %Y}") == ["unknown"]


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1900, 2023))
def test_exchangeable_days_leave_only_the_year(one: int, other: int, year: int) -> None:
    expected = date(year, one, one).isoformat() if one == other else str(year)
    assert dates(f"born {one:02}/{other:02}/{year}") == [expected]


PIECES = [
    "Sat",
    "sat",
    "the",
    "last",
    "Friday",
    "of",
    "May",
    "may",
    "31",
    "3rd",
    "half",
    "a",
    "year",
    "and",
    "ago",
    "week",
    "23",
    "Q3",
    "2023",
]
MORE = [
    "'98",
    "in",
    "mid-",
    "from",
    "to",
    "-",
    "/",
    "12",
    "next",
    "every",
    "two",
    "twenty-five",
    "before",
    "Christmas",
    ",",
    ".",
    "W14",
    "90s",
]


@given(st.lists(st.sampled_from(PIECES + MORE), max_size=14), st.sampled_from(["", " "]), st.dates())
def test_any_pieces_give_plausible_dates(pieces: list[str], space: str, day: date) -> None:
    text = space.join(pieces)
    for each in resolve_dates(text, day):
        assert each.first <= each.last
        assert (each.last - each.first).days < 40_000
        assert 0 <= each.start < each.end <= len(text)
        assert each.label
    assert all(0 <= each.start < each.end <= len(text) for each in unclear_dates(text, day))


@given(st.text(max_size=60), st.dates())
def test_any_text_is_read(text: str, day: date) -> None:
    dates(text, day)
