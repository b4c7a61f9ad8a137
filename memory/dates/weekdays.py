"""Weekdays near the message's day: ``on Tuesday``, ``Tuesday next week``, ``from Monday to Thursday``."""

import re
from datetime import date, timedelta
from typing import Final

from memory.dates.calendar import (
    WEEKDAYS,
    day_span,
    last_weekday,
    next_weekday,
    week_span,
)
from memory.dates.grammar import (
    WEEKDAY,
    WHICH,
    NoDate,
    Outcome,
    Pattern,
    TenseOf,
    alternatives,
    by_tense,
    compiled,
    step_of,
)

_WEEK: Final = timedelta(weeks=1)
_LONGEST_WORD: Final = 30
_NOT_BEFORE_WEEKDAY: Final = frozenset(
    (
        *("a", "an", "the", "is", "was", "of", "every", "each", "any", "some"),
        *("one", "no", "like", "love", "called", "named", "my", "our", "your"),
    )
)
"""After these words, a weekday is a repetition or a name: "I love Friday", "called Friday"."""
_WEEK_BEFORE: Final = re.compile(rf"\b{WHICH} week\b,?(?:(?!\b(?:and|but)\b)[^.!?,;\n])*$", re.IGNORECASE)
"""In the clause before a weekday: "Next week I have a test on Thursday"."""
_CLAUSE_REACH: Final = 80
_DAYTIME: Final = r"(?: (?:early |late )?(?:morning|afternoon|evening|night|noon))?"
_WHAT: Final = alternatives(WEEKDAYS)
_FULL_WEEKDAY: Final = r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)"


def _read_weekday_of_week(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    """``Tuesday next week``, ``next week on Tuesday``."""
    monday = week_span(today + step_of(match["which"]) * _WEEK)[0]
    return day_span(monday + timedelta(days=WEEKDAYS[match["weekday"].lower()]))


def _read_weekday(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    name = match["weekday"]
    is_today = WEEKDAYS[name.lower()] == today.weekday()
    last, following = day_span(last_weekday(name, today)), day_span(next_weekday(name, today))
    which = (match["which"] or "").lower()
    if which:
        step = step_of(which)
        return last if step < 0 else day_span(today) if step == 0 and is_today else following
    week = _WEEK_BEFORE.search(match.string, max(0, match.start() - _CLAUSE_REACH), match.start())
    if week and match[0].lower().startswith("on "):
        monday = week_span(today + step_of(week["which"]) * _WEEK)[0]
        return day_span(monday + timedelta(days=WEEKDAYS[name.lower()]))
    if is_today:
        return day_span(today)
    if match[0].lower().startswith("on "):
        # The past tense is used for a weekday that is over: "the exam is on Friday" and "dinner on Friday?" are in the future.
        return last if tense_of() == "past" else following
    return by_tense(last, following, today, tense_of)


def _read_bare_weekday(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    """The weekday of ``I met him Friday``."""
    previous = match.string[max(0, match.start() - _LONGEST_WORD) : match.start()].split()[-1:]
    if not match["weekday"].istitle() or not previous or not previous[0].islower() or previous[0] in _NOT_BEFORE_WEEKDAY:
        return None
    tense = tense_of()
    if tense == "unknown":
        return None
    name = match["weekday"]
    return day_span(last_weekday(name, today) if tense == "past" else next_weekday(name, today))


def _read_weekdays(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    """``from Monday to Thursday``. Without a tense it may be a repetition."""
    first, last, tense = match["weekday"], match["last"], tense_of()
    if tense == "unknown":
        return NoDate.UNCLEAR
    length = timedelta(days=(WEEKDAYS[last.lower()] - WEEKDAYS[first.lower()]) % 7)
    start = last_weekday(last, today) - length if tense == "past" else next_weekday(first, today)
    return (start, start + length, "between") if length else NoDate.UNCLEAR


PATTERNS: Final[tuple[Pattern, ...]] = (
    Pattern(compiled(rf"(?:on )?{WEEKDAY}{_DAYTIME},? (?:of )?{WHICH} week"), _read_weekday_of_week, is_relative=True, is_plain=True),
    Pattern(compiled(rf"{WHICH} week(?:,| on)? {WEEKDAY}"), _read_weekday_of_week, is_relative=True),
    Pattern(compiled(rf"(?:on |by |until |till |before |after |since |{WHICH} ){WEEKDAY}"), _read_weekday, is_relative=True),
    Pattern(
        compiled(rf"(?<=[a-z] ){_FULL_WEEKDAY}(?=\s*(?:[.,;!?)\n]|$)| at | with | (?:morning|afternoon|evening|night)\b)"),
        _read_bare_weekday,
        is_relative=True,
    ),
    Pattern(compiled(rf"(?:from |between ){WEEKDAY} (?:to|till|until|through|and) (?P<last>{_WHAT})"), _read_weekdays, is_relative=True),
)
