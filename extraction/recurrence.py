"""Decides whether two statements of the same words may describe two occasions: people do what is counted more than once a day."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Final

from extraction.statements import Statement

_OTHER_OCCASION: Final = timedelta(hours=1)
"""From so far apart on, a quantity that the text alone names is not taken for the one stated before."""
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE: Final = re.compile(
    rf"\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}})?|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?"
    rf"|(?:{_MONTH}|\b(?:in|since|until|from))\s+\d{{4}}",
    re.IGNORECASE,
)
_TIME_OF_DAY: Final = re.compile(r"\b\d{1,2}:\d\d\b|\b\d{1,2}\s?[ap]\.?m\b|\b\d{1,2}\s?(?:o['’]clock|uhr)\b", re.IGNORECASE)
_ONCE_MORE: Final = re.compile(
    r"\b(?:again|another|once more|(?:second|third|next) (?:time|round|set)|wieder|erneut|noch(?:mals?| ein)|encore|de nouveau"
    r"|otra vez|de nuevo|di nuovo|de novo|opnieuw|снова|опять)\b",
    re.IGNORECASE,
)


def may_be_distinct(one: Statement, other: Statement, *, is_said_apart: bool) -> bool:
    """Whether two statements that differ in no fact may still describe two occasions rather than one twice.

    Args:
        one: A statement.
        other: Another.
        is_said_apart: Whether their messages are not adjacent, and no date of their own makes them one.
    """
    if bool(_ONCE_MORE.search(one.content)) != bool(_ONCE_MORE.search(other.content)):
        return True
    if _TIME_OF_DAY.search(one.content) and _TIME_OF_DAY.search(other.content):
        return False  # it is the same time of day, or they would differ in a number
    is_later = abs(other.event_time - one.event_time) >= _OTHER_OCCASION
    if _is_measured(one) or _is_measured(other):
        return is_said_apart or is_later
    return is_later and _names_a_quantity(other)


def _is_measured(statement: Statement) -> bool:
    """Whether a property is a number: sums and averages are made of those."""
    return any(isinstance(value, int | float) and not isinstance(value, bool) for value in statement.properties.values())


def _names_a_quantity(statement: Statement) -> bool:
    return bool(replace(statement, content=_DATE.sub(" ", statement.content)).numbers)
