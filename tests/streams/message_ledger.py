"""A producer that records what was acknowledged, and compares the windows with it."""

import asyncio
import zlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from memory.headers import COMMAND, KIND
from memory.keys import encode_key, partition_of
from memory.records import Message, SessionCommand, Window
from runtime.kafka import KafkaOffsets, OutgoingRecord, Producer, read_topic
from runtime.settings import Settings
from streams.stages.catalog import STAGES

START = datetime(2024, 5, 1, tzinfo=UTC)
Session = tuple[str, str]


@dataclass
class MessageLedger:
    """The produced messages, by session, in their order."""

    settings: Settings
    expected_ids: dict[Session, list[str]] = field(default_factory=lambda: defaultdict(list))
    """By session the ids of the messages that must be in its windows."""

    def message(
        self, tenant: str, session: str, *, id: str | None = None, time: datetime | None = None, user: str = "ada"
    ) -> OutgoingRecord:
        """The next message of a session, a second after the one before unless ``time`` is given."""
        ids = self.expected_ids[tenant, session]
        named = id or f"{session}-{len(ids)}"
        if named not in ids:
            ids.append(named)
        said_at = time or START + timedelta(seconds=len(ids))
        value = Message(tenant=tenant, user=user, session=session, id=named, text="a word or two", event_time=said_at).to_json()
        return OutgoingRecord(topic=self.settings.topic("messages"), key=encode_key(tenant, session), value=value)

    def flush(self, tenant: str, session: str | None = None) -> list[OutgoingRecord]:
        """A session's flush, or a tenant's: one record for each partition."""
        parts = (tenant,) if session is None else (tenant, session)
        key = encode_key(*parts)
        partitions = self.settings.kafka.partitions
        targets = range(partitions) if session is None else [partition_of(key, partitions)]
        command = SessionCommand(command="flush", tenant=tenant, session=session).to_json()
        headers = ((KIND, COMMAND),)
        topic = self.settings.topic("messages")
        return [OutgoingRecord(topic=topic, key=key, value=command, headers=headers, partition=partition) for partition in targets]

    async def send(self, records: Iterable[OutgoingRecord]) -> None:
        async with Producer(kafka=self.settings.kafka) as producer:
            await producer.send_many(list(records))

    async def windows(self) -> dict[Session, list[Window]]:
        """Every session's windows. Two records of one window must have equal bytes."""
        found: dict[str, bytes] = {}
        windows: dict[Session, list[Window]] = defaultdict(list)
        async for record in read_topic(self.settings.topic("windows"), self.settings.kafka):
            window = Window.from_json(record.value or b"")
            assert found.setdefault(window.id, record.value or b"") == record.value, "repeated with other bytes"
            if window.sequence >= len(windows[window.tenant, window.session]):
                windows[window.tenant, window.session].append(window)
        return windows

    async def assert_exact(self) -> None:
        """Every message is in exactly one window, in order."""
        windows = await self.windows()
        found = {session: [message.id for window in each for message in window.messages] for session, each in windows.items()}
        assert found == dict(self.expected_ids)
        for each in windows.values():
            assert [window.sequence for window in each] == list(range(len(each)))


def foreign_partition(key: bytes, partitions: int) -> int:
    """Where librdkafka's default partitioner puts a key."""
    return zlib.crc32(key) % partitions


async def stage_done(settings: Settings, name: str) -> None:
    """Returns when a stage has committed all records that the log has at the call."""
    await committed_reaches(settings, name, await end_of(settings, settings.topic(STAGES[name].source.name)))


async def committed_reaches(settings: Settings, name: str, count: int, *, deadline_s: float = 120.0) -> None:
    """Returns when a stage has committed at least so many records."""
    async with asyncio.timeout(deadline_s):
        while await committed(settings, name) < count:  # noqa: ASYNC110 - it is the broker that knows
            await asyncio.sleep(0.05)


async def committed(settings: Settings, name: str) -> int:
    """How many records of its topic a stage has committed."""
    stage = STAGES[name]
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        offsets_by_partition = await offsets.committed_offsets(
            stage.group(settings.kafka.topic_prefix), [settings.topic(stage.source.name)]
        )
    return sum(offsets_by_partition.values())


async def end_of(settings: Settings, topic: str) -> int:
    """How many records were ever written to a topic."""
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        return sum((await offsets.end_offsets([topic])).values())


async def records_of(settings: Settings, name: str) -> list[Any]:
    """All records of a topic."""
    return [record async for record in read_topic(settings.topic(name), settings.kafka)]
