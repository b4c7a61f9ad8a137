"""Dead letters on the wire: the source's value, key and headers untouched, the story in headers of their own."""

from datetime import datetime
from typing import Final

from runtime.dead_letters import PREFIX, without_story
from runtime.dead_letters.story import ANSWER
from streams.delivery.records import Delivered, Outgoing

_MAX_DETAIL: Final = 2000
_MAX_ANSWER: Final = 60_000


def dead_letter(
    topic: str,
    record: Delivered,
    *,
    stage: str,
    reason: str,
    detail: str,
    tries: int,
    first_time: datetime,
    last_time: datetime,
    raw_answer: str | None = None,
) -> Outgoing:
    """The record for the dead-letter topic.

    Args:
        topic: The dead-letter topic's name on the broker.
        record: What could not be processed.
        stage: Where.
        reason: A stable word.
        detail: The error's text.
        tries: How often it was tried.
        first_time: When it was first tried.
        last_time: When it was given up.
        raw_answer: A model's answer that nothing could be made of.
    """
    told = {
        "topic": record.topic,
        "partition": str(record.partition),
        "offset": str(record.offset),
        "stage": stage,
        "reason": reason,
        "detail": detail[:_MAX_DETAIL],
        "tries": str(tries),
        "first-time": first_time.isoformat(),
        "last-time": last_time.isoformat(),
    }
    headers = [*without_story(record.headers), *((PREFIX + name, text.encode("utf-8", "replace")) for name, text in told.items())]
    if raw_answer is not None:
        headers.append((ANSWER, raw_answer[:_MAX_ANSWER].encode("utf-8", "replace")))
    return Outgoing(topic, record.key, record.value, tuple(headers))
