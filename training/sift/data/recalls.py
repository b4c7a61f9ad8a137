"""Reads the recalls of a tenant that have feedback, with the sessions of their users, from Kafka.

A session is relevant to a query if the feedback calls one of its memories useful. A query sees the sessions that ended before it. The query
itself is recorded only for the share of recalls that ``VARVE_RECALL__TRAINING_SHARE`` sets.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from control import read_control
from evaluation.sift.histories import SessionQuery
from memory.errors import RecordError
from memory.keys import decode_key
from memory.records import FeedbackRecord, Memory, MemoryChange, RecallRecord
from memory.topics import MEMORIES
from retrieval.session_ranking.sessions import sessions_of
from retrieval.training.reading import read_recalls_with_feedback
from runtime.kafka import read_topic
from runtime.settings import Settings
from training.runs import RunError
from training.sift.data.examples import UserSessions


async def read_tenant(settings: Settings, tenant: str) -> list[UserSessions]:
    """The users of a tenant whose recalls have feedback, without erased users.

    Args:
        settings: The address of Kafka, and the tenants that have agreed.
        tenant: The tenant.

    Raises:
        RunError: If the tenant has not agreed.
        KafkaUnavailableError: If no broker responds.
        TopicMissingError: If a topic does not exist.
    """
    if tenant not in settings.sift.training_tenants:
        raise RunError(f"the tenant {tenant!r} has not agreed to train a model; if it does, add it to VARVE_SIFT__TRAINING_TENANTS")
    judged: dict[tuple[str, str], list[tuple[RecallRecord, FeedbackRecord]]] = defaultdict(list)
    generations: dict[str, str] = {}
    for recall, feedback in await read_recalls_with_feedback(settings, tenant):
        if recall.user is not None and feedback.user == recall.user and recall.ranking is not None:
            judged[recall.user, recall.generation].append((recall, feedback))
            # A user has one history: that of the generation of the last recall.
            generations[recall.user] = recall.generation
    events = await _events(settings, tenant, generations)
    return [_user(tenant, user, events[user], judged[user, generation]) for user, generation in generations.items()]


async def _events(settings: Settings, tenant: str, generations: Mapping[str, str]) -> dict[str, list[Memory]]:
    """The events of users, each of one generation."""
    known = await read_control(settings)
    events: dict[str, Memory] = {}
    async for record in read_topic(settings.topic(MEMORIES.name), settings.kafka):
        try:
            owner, memory_id = decode_key(record.key or b"")
            memory = None if record.value is None else MemoryChange.from_json(record.value).memory
        except (RecordError, ValueError):
            continue
        if owner != tenant:
            continue
        events.pop(memory_id, None)
        if memory is None or memory.kind != "event" or memory.user is None or generations.get(memory.user) != memory.generation:
            continue
        if not known.is_erased(tenant, memory.user, MEMORIES.name, record.partition, record.offset):
            events[memory_id] = memory
    found: dict[str, list[Memory]] = defaultdict(list)
    for event in events.values():
        found[event.user or ""].append(event)
    return found


def _user(tenant: str, user: str, events: Sequence[Memory], judged: Sequence[tuple[RecallRecord, FeedbackRecord]]) -> UserSessions:
    ends: dict[str, datetime] = {}
    for event in events:
        if event.session is not None:
            moment = event.said_at or event.event_time
            ends[event.session] = max(moment, ends.get(event.session, moment))
    session_of = {each.id: each.session for each in events}
    sessions = tuple(sessions_of(events, "turns"))
    queries = []
    for recall, feedback in judged:
        visible = tuple(each.key.session for each in sessions if ends[each.key.session] < recall.time)
        gold = frozenset(session_of.get(each) for each in feedback.useful).intersection(visible)
        if gold and recall.ranking is not None:
            names = frozenset(each for each in gold if each is not None)
            queries.append(SessionQuery(text=recall.ranking.query, asked_at=recall.time, sessions=visible, gold=names))
    return UserSessions(user, f"tenant-{tenant}", sessions, tuple(queries))
