"""Dates that are counted from the message's day: ``yesterday``, ``half a year ago``, ``Tuesday next week``, ``two Fridays ago``."""

import re
from datetime import date, timedelta
from typing import Final

from memory.dates.calendar import (
    MONTHS,
    SEASONS,
    WEEKDAYS,
    add_months,
    day_span,
    few_units_ago,
    month_span,
    quarter_span,
    relative_span,
    season_span,
    the_other_day,
    week_span,
    weekend_span,
    year_span,
)
from memory.dates.grammar import (
    COUNT,
    SEASON,
    UNIT,
    WEEKDAY,
    WHICH,
    NoDate,
    Outcome,
    Pattern,
    TenseOf,
    alternatives,
    by_tense,
    compiled,
    count_of,
    step_of,
)

_WEEK: Final = timedelta(weeks=1)
_LONGER_UNITS: Final = {"fortnight": ("week", 2), "decade": ("year", 10)}
_DAYS_OF: Final = {"day": 1, "week": 7, "fortnight": 14, "month": 30}
_LONGEST_COUNT: Final = {"day": 40_000, "week": 5_000, "fortnight": 2_500, "month": 1_200, "year": 900, "decade": 90}
"""Longer counts are no dates of a conversation."""


def _read_near_day(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    word = " ".join(match[0].lower().split())
    if "before" in word:
        return day_span(today - timedelta(days=2))
    if "after" in word:
        return day_span(today + timedelta(days=2))
    if word.startswith(("yesterday", "last night")):
        return day_span(today - timedelta(days=1))
    return day_span(today + timedelta(days=word.startswith("tomorrow")))


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


def _read_other_day(_match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    return the_other_day(today)


def _read_weekdays_ago(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    """``two Fridays ago``: the last Friday is one Friday ago."""
    count = count_of(match["count"])
    if not count or count > _LONGEST_COUNT["week"]:
        return NoDate.UNCLEAR
    what = match["what"].lower()
    if what == "weekend":
        return weekend_span(today - count * _WEEK)
    if what in WEEKDAYS:
        return day_span(_last_weekday(what, today) - (count - 1) * _WEEK)
    month = SEASONS[what]
    seasons = [season_span(today.year - years, month) for years in range(count + 2)]
    return [season for season in seasons if season[1] < today][count - 1]


def _last_weekday(name: str, today: date) -> date:
    return today - timedelta(days=(today.weekday() - WEEKDAYS[name.lower()] - 1) % 7 + 1)


def _next_weekday(name: str, today: date) -> date:
    return today + timedelta(days=(WEEKDAYS[name.lower()] - today.weekday() - 1) % 7 + 1)


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
            return day_span(_last_weekday(what, today) - _WEEK if step < 0 else _next_weekday(what, today) + _WEEK)


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


def _read_weekday_of_week(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    """``Tuesday next week``, ``next week on Tuesday``."""
    monday = week_span(today + step_of(match["which"]) * _WEEK)[0]
    return day_span(monday + timedelta(days=WEEKDAYS[match["weekday"].lower()]))


def _read_week_from_weekday(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    """``a week on Friday``, ``two weeks from tomorrow``."""
    count, what = count_of(match["count"]), match["what"].lower()
    if not count or count > _LONGEST_COUNT["week"]:
        return NoDate.UNCLEAR
    start = today if what == "today" else today + timedelta(days=1) if what == "tomorrow" else _next_weekday(what, today)
    return day_span(start + count * _WEEK)


def _read_weekday(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    name = match["weekday"]
    is_today = WEEKDAYS[name.lower()] == today.weekday()
    last, following = day_span(_last_weekday(name, today)), day_span(_next_weekday(name, today))
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
    return day_span(_last_weekday(name, today) if tense == "past" else _next_weekday(name, today))


def _read_weekdays(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    """``from Monday to Thursday``. Without a tense it may be a repetition."""
    first, last, tense = match["weekday"], match["last"], tense_of()
    if tense == "unknown":
        return NoDate.UNCLEAR
    length = timedelta(days=(WEEKDAYS[last.lower()] - WEEKDAYS[first.lower()]) % 7)
    start = _last_weekday(last, today) - length if tense == "past" else _next_weekday(first, today)
    return (start, start + length, "between") if length else NoDate.UNCLEAR


def _read_which_season(match: re.Match[str], today: date, _: TenseOf) -> Outcome:
    step = step_of(match["which"])
    seasons = [season_span(today.year + years, SEASONS[match["season"].lower()]) for years in (-2, -1, 0, 1)]
    if step < 0:
        return next(season for season in reversed(seasons) if season[1] < today)
    if step > 0:
        return next(season for season in seasons if season[0] > today)
    return next((season for season in seasons if season[0] <= today <= season[1]), seasons[2])


_LONGEST_WORD: Final = 30
_NOT_BEFORE_WEEKDAY: Final = frozenset(
    [
        "a",
        "an",
        "the",
        "is",
        "was",
        "of",
        "every",
        "each",
        "any",
        "some",
        "one",
        "no",
        "like",
        "love",
        "called",
        "named",
        "my",
        "our",
        "your",
    ]
)
_WEEK_BEFORE: Final = re.compile(rf"\b{WHICH} week\b,?(?:(?!\b(?:and|but)\b)[^.!?,;\n])*$", re.IGNORECASE)
"""In the clause before a weekday: "Next week I have a test on Thursday"."""
_CLAUSE_REACH: Final = 80
_DAYTIME: Final = r"(?: (?:early |late )?(?:morning|afternoon|evening|night|noon))?"
_ABOUT: Final = r"(?P<more>(?:more than|over|at least|less than|under|not even) )?"
_AGO: Final = r"(?:ago|back|earlier)"
_COUNT_AND_HALF: Final = rf"(?P<half> and a half)? {UNIT}(?P<half_after> and a half)?"
_SECOND_COUNT: Final = COUNT.replace("<count>", "<count2>")
_SECOND_UNIT: Final = UNIT.replace("<unit>", "<unit2>")
_WHAT: Final = alternatives(WEEKDAYS)
_EACH: Final = r"(?:every|each|most|all|alternate)"
_FULL_WEEKDAY: Final = r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)"


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
    Pattern(compiled(r"the other (?:day|night|morning|afternoon|evening)"), _read_other_day, is_relative=True),
    Pattern(
        compiled(rf"{COUNT} (?P<what>{_WHAT}|weekend|{alternatives(SEASONS)})s? ago"), _read_weekdays_ago, is_relative=True, is_plain=True
    ),
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
    Pattern(compiled(rf"(?:on )?{WEEKDAY}{_DAYTIME},? (?:of )?{WHICH} week"), _read_weekday_of_week, is_relative=True, is_plain=True),
    Pattern(compiled(rf"{WHICH} week(?:,| on)? {WEEKDAY}"), _read_weekday_of_week, is_relative=True),
    Pattern(
        compiled(rf"{COUNT} weeks? (?:on|from) (?P<what>{_WHAT}|today|tomorrow)"), _read_week_from_weekday, is_relative=True, is_plain=True
    ),
    Pattern(compiled(rf"(?:on |by |until |till |before |after |since |{WHICH} ){WEEKDAY}"), _read_weekday, is_relative=True),
    Pattern(
        compiled(rf"(?<=[a-z] ){_FULL_WEEKDAY}(?=\s*(?:[.,;!?)\n]|$)| at | with | (?:morning|afternoon|evening|night)\b)"),
        _read_bare_weekday,
        is_relative=True,
    ),
    Pattern(compiled(rf"(?:from |between ){WEEKDAY} (?:to|till|until|through|and) (?P<last>{_WHAT})"), _read_weekdays, is_relative=True),
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
