"""Dates without a year: ``Sat 18 May``, ``3 to 7 June``, ``the last Friday of May``, ``on the 3rd``. The tense decides the year."""

import re
from collections.abc import Callable
from datetime import date
from typing import Final

from memory.dates.absolute import NTH, nth_of_month
from memory.dates.calendar import (
    MONTHS,
    SEASONS,
    WEEKDAYS,
    Span,
    add_months,
    day_span,
    iso_week_span,
    month_span,
    quarter_span,
    season_span,
)
from memory.dates.grammar import (
    DAY,
    FROM,
    LINK,
    MONTH,
    NO_NAME,
    NO_TIME,
    ON_WEEKDAY,
    ORDINALS,
    SEASON,
    SECOND_DAY,
    SECOND_MONTH,
    WHICH,
    NoDate,
    Outcome,
    Pattern,
    TenseOf,
    alternatives,
    by_tense,
    compiled,
    in_some_year,
    month_of,
    step_of,
    weekday_of,
)


def _read_day_of_month(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    month, day = month_of(match), int(match["day"])
    return in_some_year(lambda year: day_span(date(year, month, day)), today, tense_of, weekday=weekday_of(match))


def _read_month_and_number(_match: re.Match[str], _today: date, _: TenseOf) -> Outcome:
    """``in Dec 09`` may be a day or a year, and so may ``3 Sep 21``."""
    return NoDate.UNCLEAR


def _read_days(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    month, first, last = month_of(match), int(match["day"]), int(match["day2"])
    return in_some_year(lambda year: _between(date(year, month, first), date(year, month, last)), today, tense_of)


def _read_day_to_day(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    first, last = (month_of(match), int(match["day"])), (month_of(match, "month2"), int(match["day2"]))
    return in_some_year(lambda year: _between(date(year - (first > last), *first), date(year, *last)), today, tense_of)


def _read_months(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    first, last = month_of(match), month_of(match, "month2")

    def months(year: int) -> Span:
        return _between(month_span(year - (first > last), first)[0], month_span(year, last)[1])

    return in_some_year(months, today, tense_of)


def _between(first: date, last: date) -> Span:
    if first >= last:
        raise ValueError("the range ends before it begins")
    return first, last, "between"


def _read_which_month(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    month, which = month_of(match), match["which"]
    if which is None:
        return in_some_year(lambda year: month_span(year, month), today, tense_of)
    step = step_of(which)
    if step == 0:
        return month_span(today.year, month)
    return month_span(today.year - (month >= today.month) if step < 0 else today.year + (month <= today.month), month)


def _read_of_which_year(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    """``May last year``, ``18 May next year``, ``the summer of last year``."""
    year, groups = today.year + step_of(match["which"]), match.groupdict()
    if groups.get("season"):
        return season_span(year, SEASONS[groups["season"].lower()])
    return day_span(date(year, month_of(match), int(groups["day"]))) if groups.get("day") else month_span(year, month_of(match))


def _read_nth(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    month = month_of(match)

    def nth(year: int) -> Span:
        found = nth_of_month(match, year, month)
        if not isinstance(found, tuple):
            raise ValueError("no such part of a month")
        return found

    return in_some_year(nth, today, tense_of)


def _read_nth_of_which_month(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    return nth_of_month(match, *add_months(today.year, today.month, step_of(match["which"])))


def _read_day_alone(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    """``on the 14th``: of this month, or of the last or the next month that has it."""
    day = int(match["day"])
    if match["which"]:
        return day_span(date(*add_months(today.year, today.month, step_of(match["which"])), day))
    return _in_some_month(lambda year, month: day_span(date(year, month, day)), today, tense_of)


def _read_days_alone(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    first, last = int(match["day"]), int(match["day2"])
    return _in_some_month(lambda year, month: _between(date(year, month, first), date(year, month, last)), today, tense_of)


def _read_weekday_and_day(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    """``Saturday the 18th``: the weekday decides the month."""
    days = []
    for step in range(-2, 3):
        try:
            days.append(date(*add_months(today.year, today.month, step), int(match["day"])))
        except ValueError:
            continue
    fitting = [day for day in days if day.weekday() == weekday_of(match)]
    return day_span(min(fitting, key=lambda day: abs(day - today))) if fitting else NoDate.UNCLEAR


def _in_some_month(build: Callable[[int, int], Span], today: date, tense_of: TenseOf) -> Outcome:
    spans = []
    for step in range(-2, 3):
        try:
            spans.append(build(*add_months(today.year, today.month, step)))
        except ValueError:
            continue
    current = next((span for span in spans if span[0] <= today <= span[1]), None)
    earlier = next((span for span in reversed(spans) if span[1] < today), None)
    later = next((span for span in spans if span[0] > today), None)
    if current is not None:
        return current
    return by_tense(earlier, later, today, tense_of) if earlier and later and tense_of() != "unknown" else NoDate.UNCLEAR


def _read_quarter(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    quarter = int(match["quarter"])
    if match["which"]:
        return quarter_span(today.year + step_of(match["which"]), quarter)
    return NoDate.UNCLEAR if tense_of() == "unknown" else in_some_year(lambda year: quarter_span(year, quarter), today, tense_of)


def _read_quarter_of_which_year(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    position = ORDINALS[match["position"].lower()] % 5
    return quarter_span(today.year + step_of(match["which"]), position) if position else NoDate.UNCLEAR


def _read_week(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    """``calendar week 23``. Plain "week 23" may count from anything."""
    week = int(match["week"])
    if not match["calendar"] or tense_of() == "unknown":
        return NoDate.UNCLEAR
    return in_some_year(lambda year: iso_week_span(year, week), today, tense_of)


def _read_numeric(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    """``on 25/12``. ``on 5/12`` has two readings."""
    one, other = int(match["one"]), int(match["other"])
    month, day = min(one, other), max(one, other)
    return in_some_year(lambda year: day_span(date(year, month, day)), today, tense_of) if day > 12 or day == month else NoDate.UNCLEAR


_PREPOSITION: Final = r"(?:on|by|until|till|since|from|before|after)"
_NO_SHARED_YEAR: Final = (
    r"(?!\s*(?:[-–/,&]|and|or|to|till|until)\s*(?:the\s+)?(?:\d{1,2}(?:st|nd|rd|th)?(?:\s+of)?\s+)?"
    rf"(?:{alternatives(MONTHS)})\b\.?(?:\s+\d{{1,2}}(?:st|nd|rd|th)?)?,?\s+(?:of\s+)?(?:(?:1[6-9]|20)\d\d|['’]\d\d)\b)"
)
"""After a date: no second one with a year follows, which would be the year of both ("in May and June 2024")."""
_FUNCTION_WORD_FOLLOWS: Final = (
    r"(?=\s*(?:[.,;:!?)\n]|$)|\s+(?:at|in|with|and|or|for|to|we|i|he|she|they|it|you|there|when|because|so|but|if|then|"
    r"after|before|around)\b)"
)
"""After "the 3rd": no noun follows ("the 3rd try")."""
PATTERNS: Final[tuple[Pattern, ...]] = (
    Pattern(compiled(rf"in {MONTH} (?P<number>\d\d){NO_TIME}"), _read_month_and_number, is_relative=True),
    Pattern(compiled(rf"{ON_WEEKDAY}(?:the )?{DAY}(?: of)? {MONTH}{NO_NAME}{_NO_SHARED_YEAR}"), _read_day_of_month, is_relative=True),
    Pattern(compiled(rf"{ON_WEEKDAY}(?:the )?{DAY}(?: of)? {MONTH} \d{{2}}(?=\s*(?:[.,;!?)]|$))"), _read_month_and_number),
    Pattern(compiled(rf"{ON_WEEKDAY}{MONTH} (?:the )?{DAY}{NO_TIME}{_NO_SHARED_YEAR}"), _read_day_of_month, is_relative=True),
    Pattern(compiled(rf"{FROM}{DAY}{LINK}{SECOND_DAY}(?: of)? {MONTH}"), _read_days, is_relative=True),
    Pattern(compiled(rf"{FROM}{MONTH} {DAY}{LINK}{SECOND_DAY}{NO_TIME}"), _read_days, is_relative=True),
    Pattern(compiled(rf"{FROM}{DAY}(?: of)? {MONTH}{LINK}{SECOND_DAY}(?: of)? {SECOND_MONTH}"), _read_day_to_day, is_relative=True),
    Pattern(compiled(rf"{FROM}{MONTH} {DAY}{LINK}{SECOND_MONTH} {SECOND_DAY}{NO_TIME}"), _read_day_to_day, is_relative=True),
    Pattern(compiled(rf"(?:(?P<between>between )|from ){MONTH}{LINK}{SECOND_MONTH}(?! \d)"), _read_months, is_relative=True),
    Pattern(
        compiled(
            r"(?:(?:in|since|by|until|till|during|before|after|around|through) "
            r"(?:(?:early|late|mid)[ -]|the (?:middle|end|beginning|start) of )?"
            rf"|(?:early|late|mid)[ -]|{WHICH} ){MONTH}(?!\.?,? (?:of )?['’]?\d){_NO_SHARED_YEAR}"
        ),
        _read_which_month,
        is_relative=True,
    ),
    Pattern(compiled(rf"(?:in |of )?(?:(?:the )?{DAY}(?: of)? )?{MONTH},? (?:of )?{WHICH} year"), _read_of_which_year, is_relative=True),
    Pattern(compiled(rf"{MONTH} {DAY},? (?:of )?{WHICH} year"), _read_of_which_year, is_relative=True),
    Pattern(compiled(rf"{WHICH} year,? in {MONTH}(?! \d)"), _read_of_which_year, is_relative=True),
    Pattern(compiled(rf"(?:in )?(?:the )?{SEASON},? (?:of )?{WHICH} year"), _read_of_which_year, is_relative=True),
    Pattern(compiled(rf"{NTH} {MONTH}(?!,? \d)"), _read_nth, is_relative=True, is_plain=True),
    Pattern(compiled(rf"{NTH} {WHICH} month"), _read_nth_of_which_month, is_relative=True, is_plain=True),
    Pattern(
        compiled(rf"{_PREPOSITION} the (?P<day>[0-3]?\d)(?:st|nd|rd|th)(?: of (?:{WHICH} month|the month)|{_FUNCTION_WORD_FOLLOWS})"),
        _read_day_alone,
        is_relative=True,
    ),
    Pattern(
        compiled(r"(?:is|was|be|for) the (?P<day>[0-3]?\d)(?:st|nd|rd|th)(?P<which>)(?=\s*(?:[.,;:!?)\n]|$))"),
        _read_day_alone,
        is_relative=True,
    ),
    Pattern(
        compiled(
            rf"(?:(?P<between>between )|from )the (?P<day>[0-3]?\d)(?:st|nd|rd|th){LINK}"
            rf"(?P<day2>[0-3]?\d)(?:st|nd|rd|th){_FUNCTION_WORD_FOLLOWS}"
        ),
        _read_days_alone,
        is_relative=True,
    ),
    Pattern(
        compiled(rf"(?:in )?(?:the )?(?P<position>{'|'.join(ORDINALS)}) quarter of {WHICH} year"),
        _read_quarter_of_which_year,
        is_relative=True,
    ),
    Pattern(compiled(rf"{WHICH} year['’]s Q(?P<quarter>[1-4])"), _read_quarter, is_relative=True),
    Pattern(
        compiled(rf"(?:in |by |during |until |since |for )?(?-i:Q)(?P<quarter>[1-4])(?: of {WHICH} year)?"), _read_quarter, is_relative=True
    ),
    Pattern(
        compiled(
            r"(?:in |by |during |until |since )?(?P<calendar>calendar |iso )?(?:week|CW|KW)(?: number| no\.?)? ?"
            r"(?P<week>\d\d?)(?!,? (?:of )?\d{4})"
        ),
        _read_week,
        is_relative=True,
    ),
    Pattern(
        compiled(rf"(?:on )?(?P<on_weekday>{alternatives(WEEKDAYS)})\b\.?,? the (?P<day>[0-3]?\d)(?:st|nd|rd|th)(?! of)"),
        _read_weekday_and_day,
        is_relative=True,
    ),
    Pattern(compiled(rf"{_PREPOSITION} (?P<one>[0-3]?\d)/(?P<other>[0-3]?\d)", isolated=True), _read_numeric, is_relative=True),
)
