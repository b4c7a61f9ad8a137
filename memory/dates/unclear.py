"""Texts that name a time without naming days: "years ago", "as a child", "31 June". Their date is ``unknown``."""

import re
from datetime import date
from typing import Final

from memory.dates.calendar import MONTHS, WEEKDAYS
from memory.dates.grammar import COUNT, NoDate, Outcome, Pattern, TenseOf, alternatives, compiled


def _read_unclear(_match: re.Match[str], _today: date, _: TenseOf) -> Outcome:
    return NoDate.UNCLEAR


PATTERNS: Final[tuple[Pattern, ...]] = (
    Pattern(compiled(rf"{COUNT} (?!(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|moments?)\b)[a-z]+ ago"), _read_unclear),
    Pattern(  # "a week ago Sunday", "a month ago today": counted from another day than the message's
        compiled(rf"(?:{COUNT} (?:day|week|month|year)s? ago|yesterday) (?:today|tomorrow|yesterday|week|{alternatives(WEEKDAYS)})"),
        _read_unclear,
    ),
    Pattern(
        compiled(
            rf"(?:on )?(?:the )?(?:second|third|next|2nd|3rd)[- ](?:to[- ])?last (?:{alternatives(WEEKDAYS)}|day|week|weekend) (?:of|in)"
            rf"(?: (?:{alternatives(MONTHS)})| \w+ month)"
        ),
        _read_unclear,
    ),
    Pattern(
        compiled(
            r"(?:(?:many |some |countless )?(?:years|months|weeks|decades|centuries|ages)|(?:a (?:long |little )?while|a long time|"
            r"some time|"
            r"(?:many|a few|several|some) (?:decades|fortnights))) (?:ago|back|earlier)"
        ),
        _read_unclear,
    ),
    Pattern(
        compiled(
            r"(?:as a (?:child|kid|teenager|student)|in (?:my|his|her|their|our) "
            r"(?:childhood|youth|teens|(?:twen|thir|for|fif|six|seven|eigh|nine)ties))"
        ),
        _read_unclear,
    ),
    Pattern(compiled(r"in (?:the )?(?:['’]?[1-4]0['’]?s|twenties|thirties|forties|tens)"), _read_unclear),
)
