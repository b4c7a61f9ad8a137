"""The times that a question asks for, and the moment to which they are relative."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.dates.calendar import MONTHS, SEASONS, WEEKDAYS
from memory.dates.holidays import easter, thanksgiving
from memory.dates.query_dates import AskedOffset, AskedSpan, asked_offset, asked_spans

FRIDAY = date(2023, 12, 1)


def spans(query: str, today: date = FRIDAY) -> list[str]:
    return [f"{each.first}..{each.last}" for each in asked_spans(query, today)]


@pytest.mark.parametrize(
    ("query", "span"),
    [
        ("What did I do last May?", "2023-05-01..2023-05-31"),
        ("Where did we go in 2022?", "2022-01-01..2022-12-31"),
        ("What did I read last summer?", "2023-06-01..2023-08-31"),
        ("What happened two weeks ago?", "2023-11-13..2023-11-19"),
        ("What did I eat in the last two weeks?", "2023-11-13..2023-12-01"),
        ("What did she win by July 10, 2022?", "2022-06-10..2022-07-10"),
        ("Who came before Christmas?", "2022-11-25..2022-12-24"),
        ("What did we plan for next New Year's Eve?", "2023-12-31..2023-12-31"),
        ("What did we cook for Thanksgiving 2022?", "2022-11-24..2022-11-24"),
        ("Who called the day after Thanksgiving?", "2023-11-24..2023-11-24"),
        ("What have I bought since May?", "2023-05-01..2023-12-01"),
        ("What did I do after 3 May 2023?", "2023-05-04..2023-06-02"),
        ("Which puppy did she get two weeks before August 11, 2023?", "2023-07-24..2023-07-30"),
        ("Where was Tim in the week before 16 November 2023?", "2023-11-09..2023-11-15"),
        ("What did he do a week after the 3rd of May 2023?", "2023-05-04..2023-05-10"),
        ("What was shown on the Sunday before October 25, 2022?", "2022-10-23..2022-10-23"),
        ("What was shown on the Tuesday after October 25, 2022?", "2022-11-01..2022-11-01"),
        ("Where was John between August 11 and August 15 2023?", "2023-08-11..2023-08-15"),
    ],
)
def test_a_question_asks_for_a_time(query: str, span: str) -> None:
    assert spans(query) == [span]


def test_a_day_named_in_full_is_counted_from() -> None:
    question = "What did she finish last Friday, as told on 23 January, 2022?"
    assert spans(question) == ["2022-01-21..2022-01-21", "2022-01-23..2022-01-23"]


def test_the_same_words_move_with_the_day() -> None:
    assert spans("last May", date(2021, 3, 1)) == ["2020-05-01..2020-05-31"]


@pytest.mark.parametrize("query", ["What may she do?", "Who paints?", "the trip", "two weeks", ""])
def test_no_time_is_made_up(query: str) -> None:
    assert spans(query) == []


@pytest.mark.parametrize(
    "name", [*MONTHS, *WEEKDAYS, *SEASONS, "Christmas Eve", "New Year’s Day", "Valentine's Day", "halloween", "Easter"]
)
def test_no_name_of_a_time_is_overlooked(name: str) -> None:
    assert spans(f"What did we do last {name}?")


@pytest.mark.parametrize(
    "words", ["yesterday", "tonight", "last night", "this morning", "the other day", "three years ago", "a few days ago", "next weekend"]
)
def test_words_for_near_days_are_read(words: str) -> None:
    assert spans(f"What did we do {words}?")


def test_an_offset_may_be_relative_to_an_event() -> None:
    offset = asked_offset("What did I buy two weeks before the trip to Rome?")
    assert offset == AskedOffset("the trip to Rome", "week", -2)
    assert offset.from_days(date(2023, 5, 24), date(2023, 5, 26)) == AskedSpan(date(2023, 5, 8), date(2023, 5, 14))
    assert asked_offset("What did I buy before the trip?") is None


def test_of_a_pasted_text_only_the_beginning_is_read() -> None:
    assert spans("in May 2023 " * 800) == ["2023-05-01..2023-05-31"]
    assert len(asked_spans(" ".join(f"in {year}" for year in range(1950, 2050)), FRIDAY)) == 8
    assert spans("word " * 300 + "in May 2023") == []
    assert asked_offset("word " * 300 + "two weeks before the trip") is None


def test_moving_holidays_fall_on_their_days() -> None:
    assert [easter(year) for year in (1943, 2000, 2008, 2023, 2024)] == [
        date(1943, 4, 25),
        date(2000, 4, 23),
        date(2008, 3, 23),
        date(2023, 4, 9),
        date(2024, 3, 31),
    ]
    assert [thanksgiving(year).day for year in (2018, 2022, 2023, 2024)] == [22, 24, 23, 28]


WORDS = ["two", "999", "a", "the", "weeks", "months", "years", "day", "before", "after", "since", "by", "until", "between", "and", "last"]
DATES = ["next", "past", "Christmas", "Easter", "May", "3", "2022", "Friday"]


@given(st.lists(st.sampled_from([*WORDS, *DATES]), max_size=12), st.dates())
def test_any_day_and_words_give_spans(words: list[str], today: date) -> None:
    for each in asked_spans(" ".join(words), today):
        assert each.days >= 1
    offset = asked_offset(" ".join(words))
    if offset is not None:
        offset.from_days(today, today)
