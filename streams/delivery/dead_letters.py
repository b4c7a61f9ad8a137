"""Dead letters on the wire: the source's value, key and headers untouched, the story in headers of their own."""

from datetime import datetime
from typing import Final

from runtime.dead_letters import PREFIX, without_metadata
from runtime.dead_letters.metadata import ANSWER
from streams.delivery.records import Delivered, Outgoing

_MAX_DETAIL_BYTES: Final = 4000
_MAX_ANSWER_BYTES: Final = 56_000
"""Both fit, with the rest of the story, into :data:`runtime.kafka.topics.DEAD_LETTER_HEADROOM_BYTES`."""


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
        "detail": _cut(detail, _MAX_DETAIL_BYTES),
        "tries": str(tries),
        "first-time": first_time.isoformat(),
        "last-time": last_time.isoformat(),
    }
    headers = [*without_metadata(record.headers), *((PREFIX + name, text.encode()) for name, text in told.items())]
    if raw_answer is not None:
        headers.append((ANSWER, _cut(raw_answer, _MAX_ANSWER_BYTES).encode()))
    return Outgoing(topic, record.key, record.value, tuple(headers))


def _cut(text: str, limit: int) -> str:
    """The text's beginning, in at most so many bytes of UTF-8."""
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
