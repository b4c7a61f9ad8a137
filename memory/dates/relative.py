"""Days, weeks, months and years near the message's day, and repetitions: ``yesterday``, ``next month``, ``every Monday``."""

import re
from datetime import date, timedelta
from typing import Final

from memory.dates.calendar import (
    MONTHS,
    SEASONS,
    WEEKDAYS,
    add_months,
    day_span,
    last_weekday,
    month_span,
    next_weekday,
    quarter_span,
    season_span,
    the_other_day,
    week_span,
    weekend_span,
    year_span,
)
from memory.dates.grammar import (
    SEASON,
    WHICH,
    NoDate,
    Outcome,
    Pattern,
    TenseOf,
    alternatives,
    compiled,
    step_of,
)

_WEEK: Final = timedelta(weeks=1)
_WHAT: Final = alternatives(WEEKDAYS)
_EACH: Final = r"(?:every|each|most|all|alternate)"


def _read_near_day(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    word = " ".join(match[0].lower().split())
    if "before" in word:
        return day_span(today - timedelta(days=2))
    if "after" in word:
        return day_span(today + timedelta(days=2))
    if word.startswith(("yesterday", "last night")):
        return day_span(today - timedelta(days=1))
    return day_span(today + timedelta(days=word.startswith("tomorrow")))


def _read_other_day(_match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    return the_other_day(today)


def _read_which_unit(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    step = step_of(match["which"])
    match match["unit"].lower():
        case "week" if step < 0 and today.weekday() == WEEKDAYS["sunday"]:
            # On a Sunday people mean the days that have just passed, whichever day their week begins with.
            return today - timedelta(days=7), today - timedelta(days=1), "week"
        case "week":
            return week_span(today + step * _WEEK)
        case "weekend":
            return weekend_span(today + step * _WEEK)
        case "month":
            return month_span(*add_months(today.year, today.month, step))
        case "quarter":
            year, month = add_months(today.year, today.month, 3 * step)
            return quarter_span(year, (month + 2) // 3)
        case _:
            return year_span(today.year + step)


def _read_end_of_unit(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    """``by the end of the year``."""
    if tense_of() != "future":
        return NoDate.UNCLEAR
    match match["unit"].lower():
        case "week":
            return week_span(today)
        case "month":
            return month_span(today.year, today.month)
        case _:
            return year_span(today.year)


def _read_second_unit(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    """``the week before last``, ``the year after next``, ``Friday after next``."""
    step = -2 if match["side"].lower() == "before last" else 2
    what = match["what"].lower()
    match what:
        case "day" | "night":
            return day_span(today + timedelta(days=step))
        case "week":
            return week_span(today + step * _WEEK)
        case "weekend":
            return weekend_span(today + step * _WEEK)
        case "month":
            return month_span(*add_months(today.year, today.month, step))
        case "year":
            return year_span(today.year + step)
        case _:
            return day_span(last_weekday(what, today) - _WEEK if step < 0 else next_weekday(what, today) + _WEEK)


def _read_this_time(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    """``this time next year``: about the same date, so its month is known."""
    step = step_of(match["which"])
    match match["unit"].lower():
        case "year":
            return month_span(today.year + step, today.month)
        case "month":
            return week_span(date(*add_months(today.year, today.month, step), min(today.day, 28)))
        case _:
            return day_span(today + step * _WEEK)


def _read_which_season(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    step = step_of(match["which"])
    seasons = [season_span(today.year + years, SEASONS[match["season"].lower()]) for years in (-2, -1, 0, 1)]
    if step < 0:
        return next(season for season in reversed(seasons) if season[1] < today)
    if step > 0:
        return next(season for season in seasons if season[0] > today)
    return next((season for season in seasons if season[0] <= today <= season[1]), seasons[2])


def _read_repetition(_match: re.Match[str], _today: date, _: TenseOf) -> Outcome:
    """``every Monday`` is not one date."""
    return NoDate.NONE


PATTERNS: Final[tuple[Pattern, ...]] = (
    Pattern(
        compiled(
            r"(?:(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday(?: morning| afternoon| evening| night)?|last night|"
            r"tomorrow(?: morning| afternoon| evening| night)?|today|tonight|this (?:morning|afternoon|evening))"
        ),
        _read_near_day,
        is_relative=True,
    ),
    Pattern(compiled(r"the other (?:day|night|morning|afternoon|evening)"), _read_other_day, is_relative=True),
    Pattern(compiled(rf"{WHICH} (?P<unit>week|weekend|month|quarter|year)"), _read_which_unit, is_relative=True),
    Pattern(
        compiled(rf"(?:the )?(?:end|beginning|start|middle|rest) of (?:the )?{WHICH} (?P<unit>week|month|year)"),
        _read_which_unit,
        is_relative=True,
    ),
    Pattern(
        compiled(r"(?:at|by|before|until|since) the (?:end|beginning|start|middle) of the (?P<unit>week|month|year)"),
        _read_end_of_unit,
        is_relative=True,
    ),
    Pattern(
        compiled(rf"(?:on )?(?:the )?(?P<what>{_WHAT}|day|night|week|weekend|month|year) (?P<side>before last|after next)"),
        _read_second_unit,
        is_relative=True,
        is_plain=True,
    ),
    Pattern(compiled(rf"(?:about |around )?this time {WHICH} (?P<unit>week|month|year)"), _read_this_time, is_relative=True),
    Pattern(compiled(rf"{WHICH} {SEASON}"), _read_which_season, is_relative=True),
    Pattern(
        compiled(
            rf"(?:on |in )?{_EACH} (?:other |single |second |third |\d+ )?"
            rf"(?:(?:{_WHAT}|{alternatives(MONTHS)}|{alternatives(SEASONS)}|day|night|morning|evening|week|weekend|month|year|quarter|Christmas|Easter)s?"
            rf"(?: (?:in |of |on )?(?:(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? )?(?:{_WHAT}|{alternatives(MONTHS)})\b(?: \d{{1,2}})?)?)"
        ),
        _read_repetition,
    ),
    Pattern(compiled(rf"(?:on )?(?:{_WHAT})(?:s| (?:morning|afternoon|evening|night)s)"), _read_repetition),
    Pattern(compiled(rf"(?:on )?the (?:\w+) (?:{_WHAT}|day|week|weekend) (?:of|in) (?:each|every) month"), _read_repetition),
)
