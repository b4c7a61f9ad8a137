"""Dead letters on the wire: the source's value, key and headers untouched, and headers that say what happened."""

from datetime import datetime
from typing import Final

from runtime.dead_letters import PREFIX, without_metadata
from runtime.dead_letters.metadata import ANSWER
from runtime.kafka import OutgoingRecord
from streams.delivery.records import ConsumedRecord

_MAX_DETAIL_BYTES: Final = 4000
_MAX_ANSWER_BYTES: Final = 56_000
"""Both fit, with the other headers, into :data:`runtime.kafka.topics.DEAD_LETTER_HEADROOM_BYTES`."""


def dead_letter(
    topic: str,
    record: ConsumedRecord,
    *,
    stage: str,
    reason: str,
    detail: str,
    attempts: int,
    first_attempt_at: datetime,
    last_attempt_at: datetime,
    raw_answer: str | None = None,
) -> OutgoingRecord:
    """The record for the dead-letter topic.

    Args:
        topic: The dead-letter topic's name on the broker.
        record: What could not be processed.
        stage: Where.
        reason: A stable word.
        detail: The error's text.
        attempts: How often it was tried.
        first_attempt_at: When it was first tried.
        last_attempt_at: When it was given up.
        raw_answer: A model's answer that nothing could be made of.
    """
    metadata = {
        "topic": record.topic,
        "partition": str(record.partition),
        "offset": str(record.offset),
        "stage": stage,
        "reason": reason,
        "detail": _truncate(detail, _MAX_DETAIL_BYTES),
        "tries": str(attempts),
        "first-time": first_attempt_at.isoformat(),
        "last-time": last_attempt_at.isoformat(),
    }
    headers = [*without_metadata(record.headers), *((PREFIX + name, text.encode()) for name, text in metadata.items())]
    if raw_answer is not None:
        headers.append((ANSWER, _truncate(raw_answer, _MAX_ANSWER_BYTES).encode()))
    return OutgoingRecord(topic, record.key, record.value, tuple(headers))


def _truncate(text: str, limit: int) -> str:
    """The text's beginning, in at most so many bytes of UTF-8."""
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
