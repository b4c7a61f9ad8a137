"""The ways in which dates are written, and what each means on the day of the message."""

import re
from calendar import isleap
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final, Literal

from memory.dates.calendar import (
    MONTHS,
    NUMBERS,
    SEASONS,
    WEEKDAYS,
    Span,
    add_months,
    day_span,
    few_units_ago,
    month_span,
    relative_span,
    season_span,
    the_other_day,
    week_span,
    weekend_span,
    year_span,
)

Tense = Literal["past", "future", "unknown"]

_REACH: Final = 200
"""Characters on each side that are searched. Words further away say little about the date, and a sentence may have no end."""
_IRREGULAR_PAST: Final = (
    "was were had did been ate beat became began blew bought brought built came caught chose crept dealt drank drew drove dug "
    "fed fell felt fled flew forgave forgot fought found froze gave got grew heard held hid hung kept knew laid led left lent "
    "made meant met overcame paid ran rang rode said sang sank sat saw sent slept slid sold sought spent spoke sprang spun "
    "stole stood struck swam swept swore taught thought threw told took tore understood went wept woke won wore wrote"
)
"""Those that are no word of the present, nor an everyday noun or adjective."""
_PAST: Final = re.compile(
    rf"\b(?:{'|'.join(_IRREGULAR_PAST.split())}|since|"
    r"(?!(?:need|indeed|speed|feed|seed|exceed|proceed|shed|bed|red|wed)\b)(?<!\bis )(?<!\bare )(?<!\bam )(?<!\bbe )[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
"""What "is switched off on the 27th" may lie ahead as well."""
_BY: Final = re.compile(r"\bby(?: the)? ?$", re.IGNORECASE)
"""What stands before a day that something is to be done by."""
_UNTIL: Final = re.compile(r"\b(?:until|till)(?: the)? ?$", re.IGNORECASE)
"""What stands before a day that something lasts to: what was promised until then lies ahead, what was waited for does not."""
_YEARS_BETWEEN_LEAP_YEARS: Final = 8
"""At most: 1900 was none."""
_OVER: Final = re.compile(r"\b(?:was|were|had|did)\b", re.IGNORECASE)
_FUTURE: Final = re.compile(
    r"\b(?:will|won['’]t|going to|gonna|plan(?:ning|s)?|next|upcoming|tomorrow|shall|by|until|before|due|deadline|must|need|arrives?|"
    r"starts?|begins?|leaves?|opens?|ends?|visit|want|hope|hoping|should|could|can|see you)\b|['’]ll\b",
    re.IGNORECASE,
)


def tense_around(text: str, start: int, end: int) -> Tense:
    """The tense of the sentence around a part of a text.

    A word for the past outweighs one for the future, but for what is to be done by a day ("moved by the 20th"). With "until" it says
    nothing of the day ("she promised to plan it until the 10th"); without such a word the day lies ahead.

    Args:
        text: The whole text.
        start: Where the part begins.
        end: Behind its last character.
    """
    before, behind = text[max(0, start - _REACH) : start], text[end : end + _REACH]
    opening = max(before.rfind(mark) for mark in ".!?\n") + 1
    closing = min((found for mark in ".!?\n" if (found := behind.find(mark)) >= 0), default=len(behind))
    around = f"{before[opening:]} {text[start:end].split()[0]} {behind[:closing]}"
    if (_BY.search(before) or text[start:end].lower().startswith("by ")) and not _OVER.search(around):
        return "future"
    if _UNTIL.search(before) or text[start:end].lower().startswith(("until ", "till ")):
        return "past" if _OVER.search(around) else "unknown" if _PAST.search(around) else "future"
    return "past" if _PAST.search(around) else "future" if _FUTURE.search(around) else "unknown"


TenseOf = Callable[[], Tense]
"""Finds the tense around a mention. It is costly, so only the readings that depend on it call it."""
Reading = Callable[[re.Match[str], date, TenseOf], Span | None]


def _alternatives(words: dict[str, int]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_MONTH: Final = rf"(?P<month>{_alternatives(MONTHS)})\b"
_WEEKDAY: Final = rf"(?P<weekday>{_alternatives(WEEKDAYS)})\b"
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{_alternatives(NUMBERS)})(?: of)?"
_UNIT: Final = r"(?P<unit>day|week|month|year)s?"
_DAY: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_WHICH: Final = r"(?P<which>last|past|previous|this past|this|next|coming|this coming)"
_BACKWARD: Final = frozenset({"last", "past", "previous", "this past"})


def _by_tense(earlier: Span, later: Span, message_date: date, tense_of: TenseOf) -> Span:
    """The span that fits the tense. If the tense is unknown, the nearer one.

    Args:
        earlier: The one that has been.
        later: The one that is to come.
        message_date: The day of the message.
        tense_of: Finds the tense.
    """
    tense = tense_of()
    if tense == "unknown":
        return earlier if message_date - earlier[1] <= later[0] - message_date else later
    return earlier if tense == "past" else later


def _count(match: re.Match[str]) -> int:
    word = match["count"].lower()
    return int(word) if word.isdigit() else NUMBERS[word]


def _read_near_day(match: re.Match[str], message_date: date, _: TenseOf) -> Span:
    word = " ".join(match[0].lower().split())
    if word == "the day before yesterday":
        return day_span(message_date - timedelta(days=2))
    if word == "the day after tomorrow":
        return day_span(message_date + timedelta(days=2))
    if word.startswith(("yesterday", "last night")):
        return day_span(message_date - timedelta(days=1))
    return day_span(message_date + timedelta(days=word.startswith("tomorrow")))


def _read_ago(match: re.Match[str], message_date: date, _: TenseOf) -> Span:
    return relative_span(message_date, match["unit"].lower(), -_count(match))


def _read_few_ago(match: re.Match[str], message_date: date, _: TenseOf) -> Span:
    return few_units_ago(message_date, match["unit"].lower())


def _read_other_day(_match: re.Match[str], message_date: date, _: TenseOf) -> Span:
    return the_other_day(message_date)


def _read_ahead(match: re.Match[str], message_date: date, tense_of: TenseOf) -> Span | None:
    """``in two weeks`` is a date only in the future tense. Otherwise it may be how long something took."""
    return relative_span(message_date, match["unit"].lower(), _count(match)) if tense_of() == "future" else None


def _read_which_unit(match: re.Match[str], message_date: date, _: TenseOf) -> Span:
    step = _step(match["which"])
    match match["unit"].lower():
        case "week" if step < 0 and message_date.weekday() == WEEKDAYS["sunday"]:
            # Whoever says it on a Sunday means the days that have just passed, wherever their week begins.
            return message_date - timedelta(days=7), message_date - timedelta(days=1), "week"
        case "week":
            return week_span(message_date + timedelta(weeks=step))
        case "weekend":
            return weekend_span(message_date + timedelta(weeks=step))
        case "month":
            return month_span(*add_months(message_date.year, message_date.month, step))
        case _:
            return year_span(message_date.year + step)


def _step(which: str) -> int:
    which = which.lower()
    return -1 if which in _BACKWARD else 0 if which == "this" else 1


def _read_weekday(match: re.Match[str], message_date: date, tense_of: TenseOf) -> Span:
    ahead = (WEEKDAYS[match["weekday"].lower()] - message_date.weekday()) % 7
    this, last = day_span(message_date + timedelta(days=ahead)), day_span(message_date + timedelta(days=ahead - 7))
    which = (match["which"] or "").lower()
    if which in _BACKWARD:
        return last
    if which == "this":
        return this
    if which:
        return day_span(message_date + timedelta(days=ahead or 7))
    if not ahead:
        return this
    if match[0].lower().startswith("on "):
        # Whoever tells of a weekday that has been uses the past tense: "the exam is on Friday" and "dinner on Friday?" lie ahead.
        return last if tense_of() == "past" else this
    return _by_tense(last, this, message_date, tense_of)


def _read_which_month(match: re.Match[str], message_date: date, tense_of: TenseOf) -> Span:
    month = MONTHS[match["month"].lower()]
    which = (match["which"] or "").lower()
    if which == "this" or (not which and month == message_date.month):
        return month_span(message_date.year, month)
    earlier = month_span(message_date.year - (month >= message_date.month), month)
    later = month_span(message_date.year + (month <= message_date.month), month)
    if which:
        return earlier if which in _BACKWARD else later
    return _by_tense(earlier, later, message_date, tense_of)


def _read_which_season(match: re.Match[str], message_date: date, _: TenseOf) -> Span:
    step = _step(match["which"])
    seasons = [season_span(message_date.year + years, SEASONS[match["season"].lower()]) for years in (-2, -1, 0, 1)]
    if step < 0:
        return next(season for season in reversed(seasons) if season[1] < message_date)
    if step > 0:
        return next(season for season in seasons if season[0] > message_date)
    return next((season for season in seasons if season[0] <= message_date <= season[1]), seasons[2])


def _read_full(match: re.Match[str], message_date: date, _: TenseOf) -> Span:
    return day_span(date(int(match["year"]), MONTHS[match["month"].lower()], int(match["day"])))


def _read_day_of_month(match: re.Match[str], message_date: date, tense_of: TenseOf) -> Span:
    month, day = MONTHS[match["month"].lower()], int(match["day"])
    if (month, day) == (message_date.month, message_date.day):
        return day_span(message_date)
    is_ahead = (month, day) > (message_date.month, message_date.day)
    return _by_tense(
        _nearest_year(message_date.year - is_ahead, -1, month, day),
        _nearest_year(message_date.year + (not is_ahead), 1, month, day),
        message_date,
        tense_of,
    )


def _nearest_year(year: int, step: int, month: int, day: int) -> Span:
    """A day in the first year, from one on, that has it: not every year has a 29th of February."""
    years = range(year, year + step * _YEARS_BETWEEN_LEAP_YEARS, step) if (month, day) == (2, 29) else (year,)
    return day_span(date(next((each for each in years if isleap(each)), year), month, day))


def _read_month_of_year(match: re.Match[str], message_date: date, _: TenseOf) -> Span:
    return month_span(int(match["year"]), MONTHS[match["month"].lower()])


def _read_season_of_year(match: re.Match[str], message_date: date, _: TenseOf) -> Span:
    return season_span(int(match["year"]), SEASONS[match["season"].lower()])


def _read_year(match: re.Match[str], message_date: date, _: TenseOf) -> Span:
    return year_span(int(match["year"]))


def _read_iso(match: re.Match[str], message_date: date, _: TenseOf) -> Span:
    return day_span(date.fromisoformat(match[0]))


_SEASON: Final = rf"(?P<season>{_alternatives(SEASONS)})\b"


_WORDS_TOO: Final = frozenset({"may", "march", "mar", "jan", "sat", "sun", "wed"})
"""Names of months and weekdays that are everyday words, or a person's name, as well."""
_PREPOSITION: Final = re.compile(r"\b(?:in(?: early| late)?|on|since|by|until|till|from|before|after|during)(?: the)? $", re.IGNORECASE)
_MID: Final = re.compile(r"\bmid-$", re.IGNORECASE)
_ORDINAL_OR_OF: Final = re.compile(r"\d(?:st|nd|rd|th)\b|\bof\b", re.IGNORECASE)
_CLAUSE_ENDS: Final = re.compile(r"\s*(?:[.,;:!?)\n]|$)")
_QUESTION_ENDS: Final = re.compile(r"\s*\?")
_POSSESSIVE: Final = re.compile(r"['’]s\b")


def is_date_like(match: re.Match[str]) -> bool:
    """Whether what a pattern found names a date, and does not merely use a word that can also name a month or a weekday.

    "May", "March", "Sat", "Sun", "Wed" and the like name a date if they are capitalised, if a year or an ordinal day is beside them, if a
    preposition is before them ("in may", "on sat"), or if the clause ("next may") or the question ("last sat?") ends after them. "This may
    have been", "he last sat there" and "we march 3 miles" name none.

    Args:
        match: Of one of :data:`PATTERNS`.
    """
    groups = match.groupdict()
    name = "month" if groups.get("month") else "weekday"
    word = groups.get(name)
    if word is None or word.lower() not in _WORDS_TOO:
        return True
    text, end = match.string, match.end(name)
    if word.istitle():
        return word in ("May", "March") or not _POSSESSIVE.match(text, end)
    if groups.get("year") or (groups.get("day") and _ORDINAL_OR_OF.search(match[0])):
        return True
    before = text[max(0, match.start() - _PREPOSITION_REACH) : match.start(name)]
    if groups.get("day"):
        return bool(_PREPOSITION.search(text[max(0, match.start() - _PREPOSITION_REACH) : match.start()]))
    follows_preposition = bool(_PREPOSITION.search(before) or _MID.search(before))
    if word.lower() == "may" or (name == "weekday" and follows_preposition):
        return (name == "month" and follows_preposition) or _CLAUSE_ENDS.match(text, end) is not None
    return follows_preposition or _QUESTION_ENDS.match(text, end) is not None


_PREPOSITION_REACH: Final = 20


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b{pattern}(?!\w)", re.IGNORECASE)


PATTERNS: Final[tuple[tuple[re.Pattern[str], bool, Reading], ...]] = (
    (_compiled(r"\d{4}-\d\d-\d\d"), False, _read_iso),
    (_compiled(rf"{_DAY}(?: of)? {_MONTH},? {_YEAR}"), False, _read_full),
    (_compiled(rf"{_MONTH} {_DAY},? {_YEAR}"), False, _read_full),
    (_compiled(rf"{_MONTH},? (?:of )?{_YEAR}"), False, _read_month_of_year),
    (_compiled(rf"{_SEASON} (?:of )?{_YEAR}"), False, _read_season_of_year),
    (_compiled(rf"(?:in|since|during|from|until|by) (?:the year )?{_YEAR}"), False, _read_year),
    (_compiled(rf"(?:the )?{_DAY}(?: of)? {_MONTH}"), True, _read_day_of_month),
    (_compiled(rf"{_MONTH} (?:the )?{_DAY}"), True, _read_day_of_month),
    (
        _compiled(
            r"(?:the day before yesterday|the day after tomorrow|yesterday(?: morning| afternoon| evening| night)?|last night|"
            r"tomorrow(?: morning| afternoon| evening| night)?|today|tonight|this (?:morning|afternoon|evening))"
        ),
        True,
        _read_near_day,
    ),
    (_compiled(rf"{_COUNT} {_UNIT} (?:ago|back|earlier)"), True, _read_ago),
    (_compiled(rf"(?:a few|several|some) {_UNIT} (?:ago|back|earlier)"), True, _read_few_ago),
    (_compiled(r"the other (?:day|night|morning|afternoon|evening)"), True, _read_other_day),
    (_compiled(rf"in (?:about )?{_COUNT} {_UNIT}(?:' time)?"), True, _read_ahead),
    (_compiled(rf"{_WHICH} (?P<unit>week|weekend|month|year)"), True, _read_which_unit),
    (_compiled(rf"(?:on |by |until |before |since |{_WHICH} ){_WEEKDAY}"), True, _read_weekday),
    (_compiled(rf"(?:in (?:early |late |mid-)?|since |{_WHICH} ){_MONTH}(?!,? (?:of )?\d)"), True, _read_which_month),
    (_compiled(rf"{_WHICH} {_SEASON}"), True, _read_which_season),
)
