"""Decides whether two statements of the same words may describe two occasions: people may do a counted thing twice a day.

A routine, such as the prompt of a scheduler, is joined across the sessions of its user.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from extraction.statements import Statement, either_says_all, is_status_code, may_be_routine, share_frame, without_day_said
from memory.dates.event_date import UNKNOWN_DATE
from memory.records import Event, NotedEvent
from memory.records.wording import indexed_text
from runtime.redis.session_history import NotedRoutine

_OTHER_OCCASION: Final = timedelta(hours=1)
"""Distance from which a quantity that only the text names counts as a new one."""
_STANDS_FOR: Final = timedelta(days=7)
"""Age up to which an event of another session represents its repetitions: a routine is stored about once a week."""
_SHORT_TIMES: Final = 3
"""A short text that an assistant says at this many times comes from a program."""
_LONGEST_ROUTINE: Final = 1000
"""Characters of a text that is compared with those of other sessions."""
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE: Final = re.compile(
    rf"\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}})?|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?"
    rf"|(?:{_MONTH}|\b(?:in|since|until|from))\s+\d{{4}}",
    re.IGNORECASE,
)
_HOUR: Final = r"(?<![\d:.,])(?:[01]?\d|2[0-3])"
_TIME_OF_DAY: Final = re.compile(rf"{_HOUR}:[0-5]\d(?![\d:.,]*\d)|{_HOUR}\s?(?:[ap]\.?m|o['’]clock|uhr)\b", re.IGNORECASE)
"""Not a duration such as "25:00"."""
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


def possible_routines(events: Sequence[Event]) -> list[NotedEvent]:
    """The events that are routines if they are said again in another session."""
    return [noted for noted in map(_noted, events) if len(noted.content) <= _LONGEST_ROUTINE and may_be_routine(noted.content)]


def short_routines(events: Sequence[Event], assistant_messages: Collection[str]) -> list[NotedEvent]:
    """The short events that are routines if an assistant says them at three times. Those of persons never are.

    Args:
        events: The events of a window.
        assistant_messages: Ids of the messages of assistants.
    """
    said = [each for each in events if _is_based_only_on(each, assistant_messages)]
    return [noted for noted in map(_noted, said) if not may_be_routine(noted.content)]


def repeated_routines(
    events: Sequence[Event],
    known: Sequence[NotedRoutine],
    *,
    window_id: str,
    tool_messages: Collection[str],
    assistant_messages: Collection[str] = (),
) -> frozenset[str]:
    """The ids of the events that repeat an event of another window, and are not news.

    A tool that answers twice was called twice. What names a quantity may have been done twice. If another statement about the same matter
    was made in between, the old state is news. A short text of an assistant is a routine from its third time on.

    Args:
        events: The events of a window.
        known: Events of the user's windows, in all sessions.
        window_id: The window. Its own earlier extraction does not count as a repetition.
        tool_messages: Ids of the messages of tools.
        assistant_messages: Ids of the messages of assistants.
    """
    found: set[str] = set()
    elsewhere = [each.event for each in known if each.window_id != window_id]
    for place, event in enumerate(events):
        if not set(event.message_ids).isdisjoint(tool_messages):
            continue
        long, short = possible_routines([event]), short_routines([event], assistant_messages)
        # A window may contain many days of a program's short texts. Its long ones are joined before.
        others = elsewhere + ([_noted(each) for each in events[:place] if each.id not in found] if short else [])
        for noted in (*long, *short):
            of_type = [each for each in others if each.type == noted.type]
            times = {each.event_time for each in of_type if _repeats(noted, each) and not _changed_since(each, noted, of_type)}
            if times if long else len({*times, noted.event_time}) >= _SHORT_TIMES:
                found.add(event.id)
    return frozenset(found)


def _noted(event: Event) -> NotedEvent:
    return NotedEvent(event.type, without_day_said(indexed_text(event)), event.properties, event.event_time, event.date)


def _is_based_only_on(event: Event, message_ids: Collection[str]) -> bool:
    return bool(event.message_ids) and set(event.message_ids) <= set(message_ids)


def _repeats(event: NotedEvent, earlier: NotedEvent) -> bool:
    one, other = _statement(earlier), _statement(event)
    return (
        event.content == earlier.content
        and event.properties == earlier.properties
        and timedelta() <= event.event_time - earlier.event_time <= _STANDS_FOR
        and not may_be_distinct(one, other, is_said_apart=True)
    )


def _changed_since(earlier: NotedEvent, event: NotedEvent, others: Sequence[NotedEvent]) -> bool:
    """Whether a statement between two equal ones says something else about the same matter.

    A status code and the prompt that asks for it have words in common, but neither is a state of the other.
    """
    one = _statement(event)
    comparable = (each for each in others if is_status_code(each.content) == is_status_code(event.content))
    between = (_statement(each) for each in comparable if earlier.event_time <= each.event_time <= event.event_time)
    return any(other.content != one.content and (share_frame(one, other) or either_says_all(one, other)) for other in between)


def _statement(event: NotedEvent) -> Statement:
    return Statement(event.content, event.properties, event.event_time, event.date != UNKNOWN_DATE.text)
