"""Dates that are a count of units from the message's day: ``half a year ago``, ``in two weeks``, ``two Fridays ago``."""

import re
from datetime import date, timedelta
from typing import Final

from memory.dates.calendar import (
    SEASONS,
    WEEKDAYS,
    add_months,
    day_span,
    few_units_ago,
    last_weekday,
    month_span,
    next_weekday,
    relative_span,
    season_span,
    week_span,
    weekend_span,
    year_span,
)
from memory.dates.grammar import (
    COUNT,
    UNIT,
    NoDate,
    Outcome,
    Pattern,
    TenseOf,
    alternatives,
    compiled,
    count_of,
)

_WEEK: Final = timedelta(weeks=1)
_LONGER_UNITS: Final = {"fortnight": ("week", 2), "decade": ("year", 10)}
_DAYS_OF: Final = {"day": 1, "week": 7, "fortnight": 14, "month": 30}
_LONGEST_COUNT: Final = {"day": 40_000, "week": 5_000, "fortnight": 2_500, "month": 1_200, "year": 900, "decade": 90}
"""Longer counts are no dates of a conversation."""
_ABOUT: Final = r"(?P<more>(?:more than|over|at least|less than|under|not even) )?"
_AGO: Final = r"(?:ago|back|earlier)"
_COUNT_AND_HALF: Final = rf"(?P<half> and a half)? {UNIT}(?P<half_after> and a half)?"
_SECOND_COUNT: Final = COUNT.replace("<count>", "<count2>")
_SECOND_UNIT: Final = UNIT.replace("<unit>", "<unit2>")
_WHAT: Final = alternatives(WEEKDAYS)


def _read_ago(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    return NoDate.UNCLEAR if match["more"] else _counted(match, today, -1)


def _read_ahead(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    """``in two weeks`` is a date only in the future tense. Otherwise it may be how long something took."""
    return _counted(match, today, 1) if "time" in match[0] or tense_of() == "future" else None


def _read_from_now(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    return _counted(match, today, 1)


def _counted(match: re.Match[str], today: date, sign: int) -> Outcome:
    """The day, week, month or year that is a count of units from today; half units count in the next smaller unit."""
    unit, count = match["unit"].lower(), _count(match["count"], match["unit"])
    if count is None:
        return NoDate.UNCLEAR
    if match["half"] or match["half_after"]:
        return _counted_half(today, unit, count, sign)
    unit, factor = _LONGER_UNITS.get(unit, (unit, 1))
    return relative_span(today, unit, sign * count * factor)


def _count(text: str, unit: str) -> int | None:
    count = count_of(text)
    return None if count is None or count > _LONGEST_COUNT[unit.lower()] else count


def _read_decimal_ago(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    count = _count(match["count"], match["unit"])
    return NoDate.UNCLEAR if count is None else _counted_half(today, match["unit"].lower(), count, -1)


def _read_sum_ago(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    """``a year and two months ago``."""
    years, months = _count(match["count"], "year"), _count(match["count2"], "month")
    if match["more"] or years is None or months is None or (match["unit"].lower(), match["unit2"].lower()) != ("year", "month"):
        return NoDate.UNCLEAR
    return month_span(*add_months(today.year, today.month, -12 * years - months))


def _read_from_to_ago(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    """``two or three weeks ago``."""
    unit, near, far = match["unit"].lower(), _count(match["count"], match["unit"]), _count(match["count2"], match["unit"])
    if near is None or far is None or near >= far:
        return NoDate.UNCLEAR
    unit, factor = _LONGER_UNITS.get(unit, (unit, 1))
    return relative_span(today, unit, -far * factor)[0], relative_span(today, unit, -near * factor)[1], "between"


def _counted_half(today: date, unit: str, whole: int, sign: int) -> Outcome:
    """The days that are a count and a half of units from today."""
    if unit == "decade":
        return year_span(today.year + sign * (10 * whole + 5))
    if unit == "year":
        return month_span(*add_months(today.year, today.month, sign * (12 * whole + 6)))
    half_days = (2 * whole + 1) * _DAYS_OF[unit]
    if unit == "month":
        return week_span(today + timedelta(days=sign * half_days // 2))
    near, far = today + timedelta(days=sign * (half_days // 2)), today + timedelta(days=sign * -(-half_days // 2))
    return (min(near, far), max(near, far), "between") if near != far else day_span(near)


def _read_half_ago(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    return NoDate.UNCLEAR if match["more"] else _counted_half(today, match["unit"].lower(), 0, -1)


def _read_half_ahead(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    is_ahead = "time" in match[0] or "from now" in match[0].lower() or tense_of() == "future"
    return _counted_half(today, match["unit"].lower(), 0, 1) if is_ahead else None


def _read_hours_ago(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    """Only the day of the message is known, not its hour."""
    hours = count_of(match["count"])
    if hours is None or hours >= 24 * 60:
        return NoDate.UNCLEAR
    if hours < 24:
        return None
    near, far = today - timedelta(days=hours // 24), today - timedelta(days=-(-hours // 24))
    return day_span(near) if near == far else (far, near, "between")


def _read_few_ago(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    return few_units_ago(today, match["unit"].lower())


def _read_weekdays_ago(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    """``two Fridays ago``: the last Friday is one Friday ago."""
    count = count_of(match["count"])
    if not count or count > _LONGEST_COUNT["week"]:
        return NoDate.UNCLEAR
    what = match["what"].lower()
    if what == "weekend":
        return weekend_span(today - count * _WEEK)
    if what in WEEKDAYS:
        return day_span(last_weekday(what, today) - (count - 1) * _WEEK)
    month = SEASONS[what]
    seasons = [season_span(today.year - years, month) for years in range(count + 2)]
    return [season for season in seasons if season[1] < today][count - 1]


def _read_week_from_weekday(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    """``a week on Friday``, ``two weeks from tomorrow``."""
    count, what = count_of(match["count"]), match["what"].lower()
    if not count or count > _LONGEST_COUNT["week"]:
        return NoDate.UNCLEAR
    start = today if what == "today" else today + timedelta(days=1) if what == "tomorrow" else next_weekday(what, today)
    return day_span(start + count * _WEEK)


PATTERNS: Final[tuple[Pattern, ...]] = (
    Pattern(compiled(rf"{_ABOUT}{COUNT}{_COUNT_AND_HALF} {_AGO}"), _read_ago, is_relative=True),
    Pattern(compiled(rf"{_ABOUT}half an? {UNIT} {_AGO}"), _read_half_ago, is_relative=True),
    Pattern(compiled(rf"(?P<count>\d{{1,2}})[.,]5 {UNIT} {_AGO}"), _read_decimal_ago, is_relative=True),
    Pattern(compiled(rf"{_ABOUT}{COUNT} {UNIT},?(?: and)? {_SECOND_COUNT} {_SECOND_UNIT} {_AGO}"), _read_sum_ago, is_relative=True),
    Pattern(compiled(rf"{COUNT}(?: or | to |\s*[-–]\s*){_SECOND_COUNT} {UNIT} {_AGO}"), _read_from_to_ago, is_relative=True),
    Pattern(compiled(rf"in (?:about |around )?{COUNT}{_COUNT_AND_HALF}(?:['’]s? time)?"), _read_ahead, is_relative=True),
    Pattern(compiled(rf"in (?:about |around )?half an? {UNIT}(?:['’]s? time)?"), _read_half_ahead, is_relative=True),
    Pattern(compiled(rf"{COUNT}{_COUNT_AND_HALF} from now"), _read_from_now, is_relative=True),
    Pattern(compiled(rf"half an? {UNIT} from now"), _read_half_ahead, is_relative=True),
    Pattern(compiled(rf"(?:a few|several|some) (?P<unit>day|week|month|year)s? {_AGO}"), _read_few_ago, is_relative=True),
    Pattern(compiled(rf"{COUNT} (?P<unit>hour)s? {_AGO}"), _read_hours_ago, is_relative=True),
    Pattern(
        compiled(rf"{COUNT} (?P<what>{_WHAT}|weekend|{alternatives(SEASONS)})s? ago"), _read_weekdays_ago, is_relative=True, is_plain=True
    ),
    Pattern(
        compiled(rf"{COUNT} weeks? (?:on|from) (?P<what>{_WHAT}|today|tomorrow)"), _read_week_from_weekday, is_relative=True, is_plain=True
    ),
)
