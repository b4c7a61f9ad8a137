from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.dates import mentions, tense
from memory.dates.mentions import resolve_dates
from tests.growth import LINEAR, growth

MONDAY = date(2023, 5, 8)


def labels(text: str, message_date: date = MONDAY) -> list[str]:
    return [mention.label for mention in resolve_dates(text, message_date)]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("I went there yesterday", "7 May 2023"),
        ("last night was long", "7 May 2023"),
        ("the day before yesterday", "6 May 2023"),
        ("I start tomorrow", "9 May 2023"),
        ("the day after tomorrow", "10 May 2023"),
        ("this morning I ran", "8 May 2023"),
        ("two weeks ago", "week of 24 April 2023"),
        ("a week ago", "1 May 2023"),
        ("a couple of months ago", "March 2023"),
        ("10 years ago", "2013"),
        ("3 days ago", "5 May 2023"),
        ("last week", "week of 1 May 2023"),
        ("the other day", "1 May 2023 to 7 May 2023"),
        ("a few days ago", "1 May 2023 to 6 May 2023"),
        ("several months back", "1 November 2022 to 31 March 2023"),
        ("next week", "week of 15 May 2023"),
        ("last weekend", "weekend of 6 May 2023"),
        ("this weekend", "weekend of 13 May 2023"),
        ("next month", "June 2023"),
        ("last year", "2022"),
        ("last summer", "summer 2022"),
        ("last winter", "winter 2022"),
        ("next spring", "spring 2024"),
        ("last Friday", "5 May 2023"),
        ("next Friday", "12 May 2023"),
        ("next Monday", "15 May 2023"),
        ("we met on Friday", "5 May 2023"),
        ("we will meet on Friday", "12 May 2023"),
        ("My dentist appointment is on Friday at 3pm", "12 May 2023"),
        ("I fly to Rome on Friday", "12 May 2023"),
        ("I am seeing Tom on Friday", "12 May 2023"),
        ("I was offered a post, starting on 7 June", "7 June 2023"),
        ("She handed in her request for leave, from 1 June", "1 June 2023"),
        ("I moved the review to 20 June", "20 June 2023"),
        ("I'm supposed to run on 1 September", "1 September 2023"),
        ("She's in Oslo on the 13th", "13 May 2023"),
        ("Ann broke her ankle on Friday", "5 May 2023"),
        ("Dinner on Friday with Lene?", "12 May 2023"),
        ("On Friday I go hiking with my sister", "12 May 2023"),
        ("the shop is closed on Saturday", "13 May 2023"),
        ("On Friday I slept until noon", "5 May 2023"),
        ("I wrote to him on Saturday", "6 May 2023"),
        ("we sang on Monday", "8 May 2023"),
        ("the contract ends on the 30th of June", "30 June 2023"),
        ("I need it on the 10th of May", "10 May 2023"),
        ("she promised to plan it until the 10th of June", "10 June 2023"),
        ("we waited until the 2nd of May", "2 May 2023"),
        ("ten of them until Sunday", "14 May 2023"),
        ("it was open until the 10th of June", "10 June 2022"),
        ("all shops are moved by the 10th of May", "10 May 2023"),
        ("the old gateway is switched off on the 27th of May", "27 May 2023"),
        ("the old gateway was switched off on the 27th of May", "27 May 2022"),
        ("we opened the shop on the 27th of May", "27 May 2022"),
        ("it was done by Friday", "5 May 2023"),
        ("we waited until Friday", "5 May 2023"),
        ("he promised it by Friday", "12 May 2023"),
        ("the freeze begins on the 1st of April", "1 April 2024"),
        ("we married on 30 June", "30 June 2022"),
        ("my test on May 20", "20 May 2023"),
        ("last June", "June 2022"),
        ("we will move in August", "August 2023"),
        ("we moved in August", "August 2022"),
        ("I'll be back in two weeks", "week of 22 May 2023"),
        ("on 3 January 2021", "3 January 2021"),
        ("January 3rd, 2021", "3 January 2021"),
        ("since March 2020", "March 2020"),
        ("born in 1990", "1990"),
        ("due 2023-06-01", "1 June 2023"),
        ("summer of 2019", "summer 2019"),
    ],
)
def test_a_date_is_made_absolute(text: str, label: str) -> None:
    assert labels(text) == [label]


@pytest.mark.parametrize(
    ("on", "past", "ahead"),
    [
        (date(2024, 2, 10), 2020, 2024),
        (date(2024, 3, 10), 2024, 2028),
        (date(2024, 2, 29), 2024, 2024),
        (date(2023, 3, 1), 2020, 2024),
        (date(1902, 1, 1), 1896, 1904),
    ],
)
def test_a_leap_day_is_of_a_leap_year(on: date, past: int, ahead: int) -> None:
    assert labels("My son was born on February 29.", on) == [f"29 February {past}"]
    assert labels("We will meet on the 29th of February.", on) == [f"29 February {ahead}"]


def test_no_year_has_a_thirtieth_of_february() -> None:
    assert labels("It was on the 30th of February.") == []


def test_last_week_said_on_a_sunday_has_just_passed() -> None:
    (mention,) = resolve_dates("I ran last week", date(2023, 8, 13))
    assert (mention.first, mention.last, mention.label) == (date(2023, 8, 6), date(2023, 8, 12), "week of 6 August 2023")
    assert labels("I ran last week", date(2023, 8, 12)) == ["week of 31 July 2023"]
    assert labels("I will run next week", date(2023, 8, 13)) == ["week of 14 August 2023"]


@pytest.mark.parametrize("text", ["soon", "we may march on", "I did it in two weeks", "sunny days", "2023-13-45", ""])
def test_vague_dates_are_left_out(text: str) -> None:
    assert labels(text) == []


def test_the_longer_of_two_readings_wins() -> None:
    assert labels("Yesterday, then on 3 May 2022, then next year") == ["7 May 2023", "3 May 2022", "2024"]


@given(
    text=st.lists(
        st.sampled_from(
            ["last", "next", "this", "two", "weeks", "ago", "May", "Friday", "2022", "3", "on", "in", "summer", "tomorrow", ",", "."]
        )
    ).map(" ".join),
    message_date=st.dates(date(1, 1, 1), date.max),
)
def test_any_text_gives_ordered_mentions_that_do_not_overlap(text: str, message_date: date) -> None:
    mentions = resolve_dates(text, message_date)

    assert all(one.end <= other.start for one, other in pairwise(mentions))
    assert all(mention.first <= mention.last and 0 <= mention.start < mention.end <= len(text) for mention in mentions)


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.integers(1, 99))
def test_days_ago_are_exact(message_date: date, count: int) -> None:
    assert resolve_dates(f"{count} days ago", message_date)[0].first == message_date - timedelta(days=count)


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.sampled_from(["Monday", "Wednesday", "Sunday"]))
def test_last_and_next_weekday_lie_within_a_week(message_date: date, weekday: str) -> None:
    last, following = resolve_dates(f"last {weekday} and next {weekday}", message_date)

    assert timedelta(0) < message_date - last.first <= timedelta(days=7)
    assert timedelta(0) < following.first - message_date <= timedelta(days=7)
    assert last.first.strftime("%A") == following.first.strftime("%A") == weekday


def test_only_readings_that_need_the_tense_find_it(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []

    def recording(text: str, start: int, end: int) -> str:
        searched.append(text[start:end])
        return "past"

    monkeypatch.setattr(mentions, "tense_around", recording)

    resolve_dates("2023-05-01, since March 2020, two weeks ago, on Friday, yesterday, last June, on 3 January 2021", MONDAY)

    assert searched == ["on Friday"]


def test_distant_words_do_not_set_the_tense() -> None:
    assert labels(f"we met {'and so on ' * 100} on Thursday") == ["11 May 2023"]
    assert labels("we met on Thursday") == ["4 May 2023"]


@pytest.mark.parametrize("text", ['{"on": "2023-05-08"}, ' * 20_000, "on Friday, " * 20_000])
def test_a_sentence_without_an_end_is_read_once(text: str) -> None:
    assert len(resolve_dates(text, MONDAY)) == 20_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We hiked in May-June 2021.", ["1 May 2021 to 30 June 2021"]),
        ("We hiked in May and June 2021.", ["June 2021"]),
        ("I was away in Sept or Oct of 2021", ["October 2021"]),
        ("We met on 3 May and 5 June 2021.", ["5 June 2021"]),
        ("We met on May 3 and June 5, 2021.", ["5 June 2021"]),
        ("It was open since March/April '21.", ["April 2021"]),
        ("We met in May and 2021 was over soon.", ["May 2022"]),
    ],
)
def test_a_shared_year_is_not_guessed(text: str, expected: list[str]) -> None:
    assert labels(text, date(2023, 4, 20))[: len(expected)] == expected


_EVERYDAY_WORDS = (
    "This may have been a mistake.",
    "THIS MAY HAVE BEEN A MISTAKE.",
    "The next may be better.",
    "What comes next may surprise us.",
    "The chair that he last sat on is gone.",
    "I loved this Mar-a-Lago trip.",
    "This Sun-Times article is good.",
    "The next sat-nav should have a bigger screen.",
    "We put this sun-dried tomato into it.",
    "I like this Dec-themed mug.",
    "That is where the king last sat.",
    "This sun is too hot.",
    "The next sun rises over there.",
    "The last march was loud.",
    "We march 3 miles a day.",
    "The other 5 may come later.",
    "You may 10 times over.",
    "The moment before sat heavily with her.",
    "I have liked him since Jan's birthday.",
    "They want this wed to that.",
)
_DATES_OF_THE_SAME_WORDS = (
    ("I am free next May.", date(2024, 5, 1)),
    ("i am free next may", date(2024, 5, 1)),
    ("We met in may, in Rome.", date(2023, 5, 1)),
    ("We have met since march.", date(2023, 3, 1)),
    ("We met last March in Rome.", date(2023, 3, 1)),
    ("We met in mid-may.", date(2023, 5, 1)),
    ("I saw her last Sat in town.", date(2023, 6, 3)),
    ("see you on sat", date(2023, 6, 10)),
    ("See you this Sun at noon.", date(2023, 6, 11)),
    ("It was due on may 5.", date(2023, 5, 5)),
    ("We met on the 5th of may.", date(2023, 5, 5)),
    ("We met on 5 may 2021.", date(2021, 5, 5)),
    ("We met last Jan in Oslo.", date(2023, 1, 1)),
)


@pytest.mark.parametrize("text", _EVERYDAY_WORDS)
def test_an_everyday_word_names_no_date(text: str) -> None:
    assert resolve_dates(text, date(2023, 6, 7)) == []


@pytest.mark.parametrize(("text", "first"), _DATES_OF_THE_SAME_WORDS)
def test_the_same_word_in_a_date_names_one(text: str, first: date) -> None:
    assert [mention.first for mention in resolve_dates(text, date(2023, 6, 7))] == [first]


@given(
    st.sampled_from(["this", "next", "last"]),
    st.sampled_from(["may", "sat", "sun", "wed", "mar"]),
    st.sampled_from(["have", "be", "down", "on", "with", "there", "well", "not", "the"]),
)
def test_an_everyday_word_within_a_clause_names_none(which: str, word: str, following: str) -> None:
    assert resolve_dates(f"I know that {which} {word} {following} so", date(2023, 6, 7)) == []


@pytest.mark.parametrize("unit", ["on Friday, ", "twenty ", "from 3 to ", "last week ", "the first ", "friday    ", "5 ", "= "])
def test_reading_time_is_linear(unit: str) -> None:
    def read(text: str) -> None:
        mentions._dates_in.cache_clear()
        resolve_dates(text, MONDAY)

    assert growth(read, lambda size: unit * (size // len(unit)), size=8000) < LINEAR


def test_equal_words_around_dates_are_searched_once() -> None:
    tense._tense_between.cache_clear()
    resolve_dates("on Friday, " * 2000, MONDAY)

    assert tense._tense_between.cache_info().misses < 50
