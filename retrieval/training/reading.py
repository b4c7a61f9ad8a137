"""Reads what recalls and their callers left in the topic ``recalls``."""

from collections.abc import AsyncIterator
from typing import TypeVar

from control import read_control
from memory.errors import RecordError
from memory.headers import ERASURE, FEEDBACK, KIND
from memory.keys import decode_key
from memory.records import FeedbackRecord, RecallRecord
from memory.records.base import Record
from memory.topics import RECALLS
from retrieval.training.judged import JudgedRecalls, last_feedback
from runtime.kafka import read_topic
from runtime.settings import Settings

R = TypeVar("R", bound=Record)


async def read_judged(settings: Settings, tenant: str) -> JudgedRecalls:
    """A tenant's recalls that somebody judged, as far as the topic still has them, without those of users who were erased.

    It is read twice, so that of recalls that nobody judged nothing is held.

    Args:
        settings: Where Kafka is.
        tenant: Whose.

    Raises:
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If the topic does not exist.
    """
    found = JudgedRecalls()
    feedback = last_feedback([each async for each in _records(settings, tenant, FeedbackRecord, found)])
    async for recall in _records(settings, tenant, RecallRecord, found):
        if recall.id in feedback:
            found.add(recall, feedback[recall.id])
    return found


async def _records(settings: Settings, tenant: str, kind: type[R], found: JudgedRecalls) -> AsyncIterator[R]:
    """Those of one kind; what cannot be read is counted."""
    known = await read_control(settings)
    async for record in read_topic(settings.topic(RECALLS.name), settings.kafka):
        is_feedback = (KIND, FEEDBACK) in record.headers
        if is_feedback is not (kind is FeedbackRecord) or (KIND, ERASURE) in record.headers:
            continue
        try:
            owner, *user = decode_key(record.key or b"")
            is_erased = bool(user) and known.is_erased(owner, user[0], RECALLS.name, record.partition, record.offset)
            if owner == tenant and not is_erased:
                yield kind.from_json(record.value or b"")
        except RecordError:
            found.left_out["unreadable"] += 1
