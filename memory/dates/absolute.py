"""Dates that contain their year: ``18 May 2024``, ``2024-05-18``, ``2024-W14``, ``Q3 2023``, ``Dec '09``, ``the nineties``."""

import re
from datetime import date
from typing import Final

from memory.dates.calendar import SEASONS, WEEKDAYS, day_span, iso_week_span, month_span, nth_weekday, quarter_span, season_span, year_span
from memory.dates.grammar import (
    ANY_YEAR,
    DAY,
    FROM,
    LINK,
    MONTH,
    ON_WEEKDAY,
    ORDINALS,
    SEASON,
    SECOND_DAY,
    SECOND_MONTH,
    SECOND_YEAR,
    YEAR,
    NoDate,
    Outcome,
    Pattern,
    TenseOf,
    alternatives,
    compiled,
    full_year,
    month_of,
    weekday_of,
    year_of,
)

DECADES: Final = {"fifties": 1950, "sixties": 1960, "seventies": 1970, "eighties": 1980, "nineties": 1990}
_TEMPERATURE: Final = re.compile(r"\b(?:degrees?|temperatures?|weather|warm|hot|cold|heat|score[sd]?|fahrenheit)\b|°", re.IGNORECASE)
_NEAR: Final = 60
"""Characters around "the 90s" that are searched for a temperature."""
_LONGEST_MONTH: Final = 31
_FIRST_YEAR: Final = 1000
_LAST_YEAR: Final = 2999
"""Numbers outside these years are rarely dates."""
_FIRST_DECADE_OF_CENTURY: Final = 2000
"""The first century whose name in digits means its first decade."""


def _read_iso(match: re.Match[str], _today: date, _: TenseOf) -> Outcome:
    if match["name"]:
        return NoDate.NONE
    first = date(*(int(match[name]) for name in ("year", "month_number", "day")))
    if not match["year2"]:
        return day_span(first) if _is_plausible(first.year) else NoDate.UNCLEAR
    return _between(first, date(*(int(match[name]) for name in ("year2", "month_number2", "day2"))))


def _is_plausible(year: int) -> bool:
    return _FIRST_YEAR <= year <= _LAST_YEAR


def _between(first: date, last: date) -> Outcome:
    if first == last:
        return day_span(first)
    return (first, last, "between") if first < last else NoDate.UNCLEAR


def _read_compact(match: re.Match[str], _today: date, _: TenseOf) -> Outcome:
    if match["name"]:
        return NoDate.NONE
    try:
        return day_span(date(int(match["year"]), int(match["month_number"]), int(match["day"])))
    except ValueError:
        return None


def _read_iso_month(match: re.Match[str], _today: date, _: TenseOf) -> Outcome:
    month, year = int(match["month_number"]), int(match["year"])
    if not 1 <= month <= 12:
        return None
    # "2010-12" may also be the years 2010 to 2012.
    return NoDate.UNCLEAR if year % 100 < month else month_span(year, month)


def _read_iso_week(match: re.Match[str], _today: date, _: TenseOf) -> Outcome:
    if match["weekday_number"]:
        return day_span(date.fromisocalendar(int(match["year"]), int(match["week"]), int(match["weekday_number"])))
    return iso_week_span(int(match["year"]), int(match["week"]))


def _read_numeric(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    """``25/12/1990``. If day and month may be exchanged, only the year is known."""
    if match["name"]:
        return NoDate.NONE
    one, other = int(match["one"]), int(match["other"])
    year = int(match["year"]) if match["year"] else full_year(int(match["short_year"]), today)
    if year is None:
        return NoDate.UNCLEAR
    readings = set()
    for month, day in ((one, other), (other, one)):
        try:
            readings.add(date(year, month, day))
        except ValueError:
            continue
    # "05/11/12" may also begin with its year.
    if len(readings) == 1 and (match["year"] or int(match["short_year"]) > _LONGEST_MONTH):
        return day_span(readings.pop())
    # Only part of the current year is over.
    return year_span(year) if readings and match["year"] and year != today.year else NoDate.UNCLEAR


def _read_full(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    year = year_of(match, today)
    if year is None:
        return NoDate.UNCLEAR
    day = date(year, month_of(match), int(match["day"]))
    weekday = weekday_of(match)
    return day_span(day) if weekday in (None, day.weekday()) else NoDate.UNCLEAR


def _read_days_of_month(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    year = year_of(match, today)
    if year is None:
        return NoDate.UNCLEAR
    return _between(date(year, month_of(match), int(match["day"])), date(year, month_of(match), int(match["day2"])))


def _read_day_to_day(match: re.Match[str], _today: date, _: TenseOf) -> Outcome:
    first, last = (month_of(match), int(match["day"])), (month_of(match, "month2"), int(match["day2"]))
    last_year = int(match["year2"])
    first_year = int(match["year"]) if match["year"] else last_year - (first > last)
    return _between(date(first_year, *first), date(last_year, *last))


def _read_months(match: re.Match[str], _today: date, _: TenseOf) -> Outcome:
    first, last, last_year = month_of(match), month_of(match, "month2"), int(match["year2"])
    first_year = int(match["year"]) if match["year"] else last_year - (first > last)
    return _between(month_span(first_year, first)[0], month_span(last_year, last)[1])


def _read_years(match: re.Match[str], _today: date, _: TenseOf) -> Outcome:
    return _between(year_span(int(match["year"]))[0], year_span(int(match["year2"]))[1])


def _read_bare_years(match: re.Match[str], today: date, tense: TenseOf) -> Outcome:
    return NoDate.NONE if match["name"] else _read_years(match, today, tense)


def _read_month_of_year(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    year = year_of(match, today)
    return NoDate.UNCLEAR if year is None else month_span(year, month_of(match))


def _read_season_of_year(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    year = year_of(match, today)
    return NoDate.UNCLEAR if year is None else season_span(year, SEASONS[match["season"].lower()])


def _read_year(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    year = year_of(match, today)
    return NoDate.UNCLEAR if year is None else year_span(year)


def _read_quarter(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    year = year_of(match, today)
    return NoDate.UNCLEAR if year is None else quarter_span(year, int(match["quarter"]))


def _read_quarter_word(match: re.Match[str], _today: date, _: TenseOf) -> Outcome:
    position = ORDINALS[match["position"].lower()] % 5
    return quarter_span(int(match["year"]), position) if position else NoDate.UNCLEAR


def _read_week_of_year(match: re.Match[str], _today: date, _: TenseOf) -> Outcome:
    return iso_week_span(int(match["year"]), int(match["week"]))


def _read_decade(match: re.Match[str], _today: date, _: TenseOf) -> Outcome:
    if match["short"] and _TEMPERATURE.search(match.string, max(0, match.start() - _NEAR), match.end() + _NEAR):
        return NoDate.NONE
    first = int(match["decade"]) if match["decade"] else DECADES[match["tens"].lower()] if match["tens"] else 1900 + int(match["short"])
    if first % 100 == 0 and first < _FIRST_DECADE_OF_CENTURY:
        return NoDate.UNCLEAR  # "the 1800s" are mostly a century
    return date(first, 1, 1), date(first + 9, 12, 31), "between"


def _read_nth(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    year = year_of(match, today)
    return NoDate.UNCLEAR if year is None else nth_of_month(match, year, month_of(match))


def nth_of_month(match: re.Match[str], year: int, month: int) -> Outcome:
    """The "last Friday", "first week", "third weekend" or "last day" of a month.

    Args:
        match: Match of a pattern with :data:`NTH`.
        year: The month's year.
        month: The month's number, from 1.
    """
    position, what = ORDINALS[match["position"].lower()], match["nth"].lower().rstrip(".")
    first, last, _ = month_span(year, month)
    match what:
        case "day":
            return day_span(last if position == -1 else date(year, month, position))
        case "week":
            if not -1 <= position <= 4:
                return NoDate.UNCLEAR
            end = last.day if position == -1 else 7 * position
            return date(year, month, end - 6), date(year, month, end), "between"
        case "weekend":
            saturday = nth_weekday(year, month, WEEKDAYS["saturday"], position)[0]
            return saturday, date.fromordinal(saturday.toordinal() + 1), "weekend"
        case "half":
            if position not in (1, 2):
                return NoDate.UNCLEAR
            return (first, date(year, month, 15), "between") if position == 1 else (date(year, month, 16), last, "between")
        case _:
            return nth_weekday(year, month, WEEKDAYS[what], position)


NTH: Final = (
    rf"(?:on |by |until |since )?the (?P<position>{'|'.join(ORDINALS)}) "
    rf"(?P<nth>{alternatives(WEEKDAYS)}|day|week(?:end)?|half)\b\.? (?:of|in)"
)
"""The beginning of "the last Friday of May"."""
_NUMERIC_DAY: Final = r"(?P<one>[0-3]?\d)(?P<mark>[./-])(?P<other>[0-3]?\d)(?P=mark)"
_CLOCK: Final = r"(?:[T ]\d\d:?\d\d(?::?\d\d(?:[.,]\d+)?)?\s?(?:Z\b|UTC\b|[+-]\d\d:?\d\d)?)?"
_COUNTED: Final = (
    r"(?!-\w)(?!\s*(?:%|°|[$€£]|(?:(?:daily|total|net|extra) )?"
    r"(?:words?|steps?|people|persons?|euros?|dollars?|pounds?|bucks|(?:kilo)?calories|k?cal|kj|kilometres|kilometers|km|m|met(?:re|er)s|"
    r"miles|pages|lines|rooms|users|days|hours|minutes|seconds|points|times|copies|pieces|percent|degrees|years|months|weeks|followers|"
    r"subscribers|members|customers|(?:milli)?grams|m?g|m?l|lit(?:er|re)s|watts|tokens|kilos|kg|items|units|square|hp|mah|mb|gb|dpi|rpm|hz"
    r")\b))"
)
"""After a number like a year: it does not count anything."""
_VERSION: Final = (
    r"(?P<name>\b(?:versions?|release|build|firmware|ip|section|chapter|phone|tel\.?|python|model|serial|invoice|order|ticket) #?)?"
)
_AMOUNT: Final = (
    r"(?P<name>\b(?:calories?|kcal|intake|prices?|costs?|rent|salary|weight|distance):?"
    r"(?: (?:of|is|was|are|were|at|to|be|about|around|roughly|approximately|between|daily))* )?"
)
"""Before two numbers like years: what they measure."""
_IN: Final = "(?:in |by |during |until |since |for )?"
_IDENTIFIER: Final = (
    r"(?P<name>\b(?:order|ticket|invoice|number|no\.?|nr\.?|id|phone|tel\.?|call|account|code|ref(?:erence)?|pin|serial|sku|case|article|item|dial)"
    r"(?: (?:number|no\.?|id|code))?(?: is)?:? #?)?"
)

PATTERNS: Final[tuple[Pattern, ...]] = (
    Pattern(
        compiled(
            _VERSION + r"(?P<year>\d{4})-(?P<month_number>\d\d?)-(?P<day>\d\d?)"
            r"(?:(?:/| to | - |–)(?P<year2>\d{4})-(?P<month_number2>\d\d)-(?P<day2>\d\d)|" + _CLOCK + ")",
            isolated=True,
        ),
        _read_iso,
    ),
    Pattern(
        compiled(
            _VERSION + r"(?P<year>(?:1[6-9]|20)\d\d)(?P<mark>[/.])(?P<month_number>\d\d?)(?P=mark)(?P<day>\d\d?)(?P<year2>)", isolated=True
        ),
        _read_iso,
    ),
    Pattern(compiled(_IDENTIFIER + r"(?P<year>(?:19|20)\d\d)(?P<month_number>\d\d)(?P<day>\d\d)", isolated=True), _read_compact),
    Pattern(compiled(r"(?P<year>\d{4})-?W(?P<week>\d\d)(?:-?(?P<weekday_number>[1-7]))?", isolated=True), _read_iso_week),
    Pattern(compiled(rf"{YEAR}-(?P<month_number>\d\d)", isolated=True), _read_iso_month),
    Pattern(compiled(rf"{_VERSION}{_NUMERIC_DAY}(?:{YEAR}|(?P<short_year>\d\d))", isolated=True), _read_numeric),
    Pattern(compiled(rf"{ON_WEEKDAY}(?:the )?{DAY}(?: of |-|/| ){MONTH}(?:,? ?of|,)?[ /-]?{ANY_YEAR}"), _read_full),
    Pattern(compiled(rf"{ON_WEEKDAY}{MONTH}[ -](?:the )?{DAY}(?:,? |-){ANY_YEAR}"), _read_full),
    Pattern(compiled(rf"{FROM}{DAY}{LINK}{SECOND_DAY}(?: of)? {MONTH},? {ANY_YEAR}"), _read_days_of_month),
    Pattern(compiled(rf"{FROM}{MONTH} {DAY}{LINK}{SECOND_DAY},? {ANY_YEAR}"), _read_days_of_month),
    Pattern(
        compiled(rf"{FROM}{DAY}(?: of)? {MONTH}(?:,? {YEAR})?{LINK}{SECOND_DAY}(?: of)? {SECOND_MONTH},? {SECOND_YEAR}"), _read_day_to_day
    ),
    Pattern(compiled(rf"{FROM}{MONTH} {DAY}(?:,? {YEAR})?{LINK}{SECOND_MONTH} {SECOND_DAY},? {SECOND_YEAR}"), _read_day_to_day),
    Pattern(compiled(rf"{FROM}{MONTH}(?: {YEAR})?{LINK}{SECOND_MONTH} {SECOND_YEAR}"), _read_months),
    Pattern(compiled(rf"(?:(?P<between>between )|from |in ){YEAR}{LINK}{SECOND_YEAR}{_COUNTED}"), _read_years),
    Pattern(compiled(rf"{_AMOUNT}{YEAR}\s?[-–]\s?{SECOND_YEAR}{_COUNTED}", isolated=True), _read_bare_years),
    Pattern(compiled(rf"(?:(?:early|late|mid|end of|beginning of|start of)[ -])?{MONTH},? (?:of )?{ANY_YEAR}"), _read_month_of_year),
    Pattern(compiled(rf"(?:(?:early|late|mid)[ -])?{SEASON} (?:of |in )?{ANY_YEAR}"), _read_season_of_year),
    Pattern(
        compiled(rf"(?:in|since|during|from|until|till|by|before|after|around) (?:the year |early |late |mid[ -])?{ANY_YEAR}{_COUNTED}"),
        _read_year,
    ),
    Pattern(compiled(rf"(?:early|late|mid)[ -](?:in )?{YEAR}{_COUNTED}"), _read_year),
    Pattern(compiled(rf"(?:the )?(?:end|beginning|start|middle|summer|spring|autumn|winter|fall) of {YEAR}"), _read_year),
    Pattern(compiled(rf"{_IN}(?:Q|quarter )(?P<quarter>[1-4])(?: of|,|/)? ?{ANY_YEAR}"), _read_quarter),
    Pattern(compiled(rf"{_IN}(?:the )?(?P<position>{'|'.join(ORDINALS)}) quarter (?:of |in )?{YEAR}"), _read_quarter_word),
    Pattern(
        compiled(rf"{_IN}(?:calendar |iso )?(?:week|CW|KW)(?: number| no\.?)? ?(?P<week>\d\d?)(?: of|,|/)? {YEAR}"), _read_week_of_year
    ),
    Pattern(
        compiled(
            rf"(?:in |during |since |back in )?the (?:early |mid[ -]|late )?"
            rf"(?:['’]?(?P<short>[5-9]0)['’]?s|(?P<decade>(?:1[6-9]|20)\d0)['’]?s|(?P<tens>{alternatives(DECADES)}))"
        ),
        _read_decade,
    ),
    Pattern(compiled(rf"{NTH} {MONTH},? (?:of )?{ANY_YEAR}"), _read_nth, is_plain=True),
)
