"""Dead letters on the wire: the source's value, key and headers untouched, the story in headers of their own."""

from datetime import UTC, datetime
from typing import Final

from memory.records import DeadLetter
from streams.delivery.records import EXTRACTOR_ANSWER, ORIGIN, Delivered, Headers, Outgoing

PREFIX: Final = "varve-dlq-"
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
        headers.append((EXTRACTOR_ANSWER, raw_answer[:_MAX_ANSWER].encode("utf-8", "replace")))
    return Outgoing(topic, record.key, record.value, tuple(headers))


def read_story(headers: Headers) -> DeadLetter | None:
    """What the headers of a dead letter tell; None where they are not a dead letter's."""
    told = {name.removeprefix(PREFIX): value.decode("utf-8", "replace") for name, value in headers if name.startswith(PREFIX)}
    try:
        return DeadLetter(
            topic=told["topic"],
            partition=int(told["partition"]),
            offset=int(told["offset"]),
            stage=told["stage"],
            reason=told["reason"],
            detail=told["detail"],
            tries=int(told["tries"]),
            first_time=datetime.fromisoformat(told["first-time"]),
            last_time=datetime.fromisoformat(told["last-time"]),
        )
    except (KeyError, ValueError):
        return None


def redriven(record: Delivered) -> Outgoing | None:
    """The record to produce so that its stage tries again, with the identity it had; None where it is no dead letter."""
    story = read_story(record.headers)
    if story is None:
        return None
    headers = without_story(record.headers)
    if not any(name == ORIGIN for name, _ in headers):
        headers = (*headers, (ORIGIN, f"{story.topic}/{story.partition}/{story.offset}".encode()))
    return Outgoing(story.topic, record.key, record.value, headers, story.partition)


def without_story(headers: Headers) -> Headers:
    """The headers as the source's producer wrote them."""
    return tuple((name, value) for name, value in headers if not name.startswith(PREFIX))


def utc_now() -> datetime:
    """Wall-clock time: dead letters tell when things happened to the operator, not when they were said."""
    return datetime.now(UTC)
