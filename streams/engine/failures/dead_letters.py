"""Dead letters as records: the source's value, key and headers unchanged, plus headers that describe the failure.

A dead letter always fits. If the source record is too large (only a foreign, compressed record can be), the letter has only its metadata,
and compressed parts with the content follow it in the same transaction (:mod:`runtime.dead_letters.metadata`).
"""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from memory.records import DeadLetterMetadata
from runtime.dead_letters import PREFIX, without_metadata
from runtime.dead_letters.metadata import ANSWER, PART_OF, PARTS, SIZE, TENANT, Content, dead_letter_name, pack, tenant_of
from runtime.kafka import OutgoingRecord
from runtime.kafka.topics import DEAD_LETTER_HEADROOM_BYTES
from runtime.logs import logger
from streams.engine.records import ConsumedRecord
from streams.engine.stage_metrics import StageMetrics
from streams.engine.tasks.batch import Rejection

_log = logger(__name__)

SMALLEST_LIMIT: Final = DEAD_LETTER_HEADROOM_BYTES
"""Maximum size of a dead letter in parts, for any record."""

_MAX_DETAIL_BYTES: Final = 4000
_MAX_ANSWER_BYTES: Final = 56_000
_MAX_KEY_BYTES: Final = 1000
_MAX_WORD_BYTES: Final = 250
"""With names and lengths, these limits fit into :data:`SMALLEST_LIMIT`."""
_MAX_PART_BYTES: Final = 900_000
_PART_FRAME_BYTES: Final = 4000
"""Upper bound of a part's overhead."""


class DeadLetterWriter:
    """Creates and counts the dead letters of one stage's worker.

    Args:
        topic: The dead-letter topic's name on the broker.
        limit: The largest record that the topic accepts, in bytes.
        metrics: Counts the letters.
    """

    def __init__(self, *, topic: str, limit: int, metrics: StageMetrics) -> None:
        self._topic = topic
        self._limit = limit
        self._metrics = metrics

    async def create(
        self, rejection: Rejection, *, attempts: int, first_attempt_at: datetime, is_smallest: bool = False
    ) -> list[OutgoingRecord]:
        """The dead letter of a rejected record, with its parts; :meth:`count` counts it after the commit.

        Args:
            rejection: The record and the reason.
            attempts: Number of attempts.
            first_attempt_at: Time of the first attempt.
            is_smallest: Whether to create the smallest letter, because the broker has refused a larger one.
        """
        # Compressing a very large record would block the event loop, and with it the worker's heartbeat.
        return await asyncio.to_thread(
            dead_letter,
            self._topic,
            rejection,
            limit=SMALLEST_LIMIT if is_smallest else self._limit,
            stage=self._metrics.stage,
            attempts=attempts,
            first_attempt_at=first_attempt_at,
            last_attempt_at=datetime.now(UTC),
        )

    def log_refused(self, record: ConsumedRecord, error: Exception) -> None:
        """Logs that the broker refuses a dead letter, which happens only if its topic's ``max.message.bytes`` was reduced."""
        _log.error("dead_letter_refused", stage=self._metrics.stage, topic=self._topic, source=str(record.position), error=str(error))

    def count(self, committed: Iterable[OutgoingRecord]) -> None:
        """Counts the dead letters among committed outputs."""
        for output in committed:
            if output.topic == self._topic and all(name != PART_OF for name, _ in output.headers):
                self._metrics.count_dead_letter(_reason_of(output))


def dead_letter(
    topic: str,
    rejection: Rejection,
    *,
    limit: int,
    stage: str,
    attempts: int,
    first_attempt_at: datetime,
    last_attempt_at: datetime,
) -> list[OutgoingRecord]:
    """The record for the dead-letter topic, followed by the parts of a content that does not fit into it.

    Args:
        topic: The dead-letter topic's name on the broker.
        rejection: The record that could not be processed, and the reason.
        limit: The largest record that the topic accepts, in bytes; at least :data:`SMALLEST_LIMIT`.
        stage: The stage that rejected it.
        attempts: Number of attempts.
        first_attempt_at: Time of the first attempt.
        last_attempt_at: Time of the last attempt.
    """
    if limit < SMALLEST_LIMIT:
        raise ValueError(f"limit must be at least {SMALLEST_LIMIT}, got {limit}")
    record = rejection.record
    metadata = DeadLetterMetadata(
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        stage=_truncate(stage, _MAX_WORD_BYTES),
        reason=_truncate(rejection.reason, _MAX_WORD_BYTES),
        detail=_truncate(rejection.detail, _MAX_DETAIL_BYTES),
        tries=attempts,
        first_time=first_attempt_at,
        last_time=last_attempt_at,
    )
    metadata_headers = _headers(metadata, rejection.raw_answer)
    content = Content(record.key, record.value, without_metadata(record.headers))
    whole = OutgoingRecord(topic, content.key, content.value, (*content.headers, *metadata_headers))
    return [whole] if whole.size <= limit else _in_parts(topic, content, metadata, metadata_headers, limit)


def _reason_of(letter: OutgoingRecord) -> str:
    return next((value.decode() for name, value in reversed(letter.headers) if name == f"{PREFIX}reason"), "")


def _in_parts(
    topic: str, content: Content, metadata: DeadLetterMetadata, metadata_headers: list[tuple[str, bytes]], limit: int
) -> list[OutgoingRecord]:
    # The key chooses the partition: one key for the letter and its parts.
    key = content.key if len(content.key or b"") <= _MAX_KEY_BYTES else None
    parts = list(pack(content, part_bytes=min(limit - _PART_FRAME_BYTES, _MAX_PART_BYTES)))
    headers = [*metadata_headers, (PARTS, b"%d" % len(parts)), (SIZE, b"%d" % len(content.value or b""))]
    tenant = (tenant_of(content.key, content.value) or "").encode("utf-8", "replace")
    if 0 < len(tenant) <= _MAX_WORD_BYTES:
        headers.append((TENANT, tenant))
    name = dead_letter_name(metadata).encode()
    return [OutgoingRecord(topic, key, None, tuple(headers)), *(OutgoingRecord(topic, key, part, ((PART_OF, name),)) for part in parts)]


def _headers(metadata: DeadLetterMetadata, raw_answer: str | None) -> list[tuple[str, bytes]]:
    fields = {
        "topic": metadata.topic,
        "partition": str(metadata.partition),
        "offset": str(metadata.offset),
        "stage": metadata.stage,
        "reason": metadata.reason,
        "detail": metadata.detail,
        "tries": str(metadata.tries),
        "first-time": metadata.first_time.isoformat(),
        "last-time": metadata.last_time.isoformat(),
    }
    headers = [(PREFIX + name, text.encode()) for name, text in fields.items()]
    if raw_answer is not None:
        headers.append((ANSWER, _truncate(raw_answer, _MAX_ANSWER_BYTES).encode()))
    return headers


def _truncate(text: str, limit: int) -> str:
    """The beginning of a text, in at most ``limit`` bytes of UTF-8."""
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
