"""The summary of a timeline's period as the memory that is stored, searched and returned."""

from datetime import datetime, timedelta, timezone
from typing import Final

from pydantic import JsonValue

from memory.keys import entity_key_parts
from memory.records import Memory, WrittenText
from memory.texts.text import first_that_fit
from memory.times import time_of_microseconds
from operators.publishing import BY_EXTRACT, Owner
from operators.timeline.digest import Digest, Kept, Key, count_of, present
from operators.timeline.periods import Period
from operators.timeline.texts import PeriodTexts

MAX_MESSAGES: Final = 60
MAX_SUMMARY: Final = 1500
"""Characters of a period's events in its summary, or of what a model makes of them."""


def summary(period: Period, digest: Digest, texts: PeriodTexts, owner: Owner) -> Memory | None:
    """The summary of a period as a memory; None if none of its events is known any more.

    Args:
        period: The period.
        digest: Its events.
        texts: The texts that a model wrote of the timeline's periods.
        owner: The timeline's property.
    """
    named = present(digest)
    if not named:
        return None
    values = entity_key_parts(owner.key)
    count = count_of(digest)
    text = texts.text_of(period, digest)
    by_model = texts.is_written(period, digest)
    is_asked = text is None and period.name in texts.asked
    spaced = owner.property_name.replace("_", " ")
    head = f"{spaced} of {', '.join(values)}, {period.level} {period.name} ({period.first_day} to {period.last_day})"
    properties: dict[str, JsonValue] = {
        "timeline": owner.property_name,
        "period": period.name,
        "from": period.first_day.isoformat(),
        "to": period.last_day.isoformat(),
        "event_count": count,
        "events": [str(event_id) for (_, _, event_id, *_), _, _, _ in named],
        "written_by": text["by"] if text is not None and by_model else BY_EXTRACT,
    }
    return owner.summary(
        period.name,
        content=f"{head}: {text['text'] if text is not None and by_model else _extract(named)}",
        properties=properties,
        keywords=list(dict.fromkeys(values)),
        importance=max(-rank for (rank, *_), _, _, _ in named) / 1000,
        event_time=max(_moment_of(key) for key, _, _, _ in named),
        message_ids=list(dict.fromkeys(each for _, _, message_ids, _ in named for each in message_ids))[:MAX_MESSAGES],
        version=2 * count + (text is not None),
        written=WrittenText(by=BY_EXTRACT, pending=len(named)) if is_asked else None,
    )


def _moment_of(key: Key) -> datetime:
    """The event time of a kept event, with its UTC offset."""
    _, time, _, *offset = key
    shift = timedelta(microseconds=offset[0] if offset else 0)
    return (time_of_microseconds(time) - shift).astimezone(timezone(shift))


def _extract(named: list[Kept]) -> str:
    """The most important events' own words, in the order of time."""
    shown = first_that_fit(
        ((time, event_id, text) for (_, time, event_id, *_), text, _, _ in named), lambda each: len(each[2]), MAX_SUMMARY
    )
    return "; ".join(text.rstrip(".; ") for _, _, text in sorted(shown))
