"""Reads recalls and feedback from the topic ``recalls``."""

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
    """A tenant's recalls with feedback that are still in the topic, without those of erased users.

    The topic is read twice, so that recalls without feedback are not kept in memory.

    Args:
        settings: The address of Kafka.
        tenant: The tenant.

    Raises:
        KafkaUnavailableError: If no broker responds.
        TopicMissingError: If the topic does not exist.
    """
    found = JudgedRecalls()
    async for recall, feedback in _with_feedback(settings, tenant, found):
        found.add(recall, feedback)
    return found


async def read_recalls_with_feedback(settings: Settings, tenant: str) -> list[tuple[RecallRecord, FeedbackRecord]]:
    """A tenant's recalls that are still in the topic, each with its last feedback, without those of erased users.

    Args:
        settings: The address of Kafka.
        tenant: The tenant.

    Raises:
        KafkaUnavailableError: If no broker responds.
        TopicMissingError: If the topic does not exist.
    """
    return [each async for each in _with_feedback(settings, tenant, JudgedRecalls())]


async def _with_feedback(settings: Settings, tenant: str, found: JudgedRecalls) -> AsyncIterator[tuple[RecallRecord, FeedbackRecord]]:
    feedback = last_feedback([each async for each in _records(settings, tenant, FeedbackRecord, found)])
    async for recall in _records(settings, tenant, RecallRecord, found):
        if recall.id in feedback:
            yield recall, feedback[recall.id]


async def _records(settings: Settings, tenant: str, kind: type[R], found: JudgedRecalls) -> AsyncIterator[R]:
    """The records of one kind. Unreadable records are counted."""
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
