"""Fills topics with the benchmarks' input."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count as count_up
from typing import Final

from aiokafka import AIOKafkaProducer

from memory.ids import window_id
from memory.keys import encode_key, partition_of
from memory.records import Change, Contribution, Message, Window
from runtime.kafka import client_options
from runtime.settings import Settings

TENANT: Final = "bench"
SCHEMA: Final = "education"
MESSAGE_BYTES: Final = 333
_MESSAGES_PER_WINDOW: Final = 4
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)

Record = tuple[bytes, bytes]
"""Key and value."""


def messages(count: int, sessions: int) -> Iterable[Record]:
    """Messages of 333 bytes, in turn over the sessions, half a second apart within each."""
    for number in range(count):
        session = f"session-{number % sessions:04d}"
        turn = number // sessions
        message = message_of_size(
            user=f"user-{number % sessions:04d}", session=session, id=f"{number:08d}", event_time=_START + timedelta(seconds=turn / 2)
        )
        yield encode_key(TENANT, session), message


def message_of_size(*, user: str, session: str, id: str, event_time: datetime) -> bytes:
    """A message of 333 bytes, most of them text."""
    message = Message(tenant=TENANT, user=user, session=session, id=id, text="", event_time=event_time)
    text_bytes = MESSAGE_BYTES - len(message.to_json())
    words = "the trains to the coast run every hour until the lights go out over there " * 4
    return message.model_copy(update={"text": words[:text_bytes]}).to_json()


def contributions(count: int, entities: int, settings: Settings) -> Iterable[Record]:
    """Contributions of COUNT, SUM and AVG, in turn over the entities, as the events stage makes them."""
    return contributions_to([f"user-{number:04d}" for number in range(entities)], count, settings)


def contributions_to(users: Sequence[str], count: int, settings: Settings) -> Iterable[Record]:
    """As :func:`contributions`, to the entities of these users."""
    positions = [0] * settings.kafka.partitions
    for number in range(count):
        user = users[number % len(users)]
        source = partition_of(encode_key(TENANT, user), settings.kafka.partitions)
        positions[source] += 1
        time = _START + timedelta(seconds=number // len(users))
        changes = [
            Change(op="apply", property=name, source_id=f"{number:08d}", value=value, event_time=time, message_ids=[f"m{number:08d}"])
            for name, value in (("exercises", None), ("minutes", number % 7 + 0.25))
        ]
        key = encode_key(user, "2026-01-01").decode("ascii")
        contribution = Contribution(
            tenant=TENANT,
            user=user,
            entity_type="study_day",
            entity_key=key,
            source=f"extractions/{source}",
            position=positions[source],
            changes=changes,
            time=time,
            schema_name=SCHEMA,
        )
        yield encode_key(TENANT, "study_day", key), contribution.to_json()


def messages_of_session(session: str, count: int) -> Iterable[Record]:
    """Messages of one session, half a second apart."""
    for number in range(count):
        time = _START + timedelta(seconds=number / 2)
        yield encode_key(TENANT, session), message_of_size(user=session, session=session, id=f"{number:08d}", event_time=time)


def windows(tenant: str) -> Iterator[Window]:
    """An endless series of windows of four short messages, each of its own session."""
    for number in count_up():
        session = f"session-{number}"
        messages = [
            Message(
                tenant=tenant,
                user=f"user-{number % 50}",
                session=session,
                id=str(index),
                text=f"Exercise {number}.{index} of {tenant} took {index + 2} minutes and was right.",
                event_time=_START + timedelta(minutes=number, seconds=index),
            )
            for index in range(_MESSAGES_PER_WINDOW)
        ]
        yield Window(
            id=window_id(tenant, session, 0),
            tenant=tenant,
            user=messages[0].user,
            session=session,
            sequence=0,
            messages=messages,
            closed_by="flush",
            source_partition=0,
            first_offset=number,
            last_offset=number,
        )


async def fill(topic: str, records: Iterable[Record], settings: Settings) -> int:
    """Produces records into a topic, each into its key's partition.

    Returns:
        How many there were.
    """
    producer = AIOKafkaProducer(**client_options(settings.kafka), linger_ms=20, max_batch_size=262_144)
    await producer.start()
    pending = []
    count = 0
    try:
        for key, value in records:
            pending.append(await producer.send(topic, value, key=key, partition=partition_of(key, settings.kafka.partitions)))
            count += 1
            if len(pending) >= 5000:
                await asyncio.gather(*pending)
                pending.clear()
        await asyncio.gather(*pending)
    finally:
        await producer.stop()
    return count
