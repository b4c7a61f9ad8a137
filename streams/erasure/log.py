"""A user's records in the topics: where they lie, and what is written among them to erase them."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, TypeAlias

from aiokafka import ConsumerRecord

from memory.headers import COMMAND, ERASURE, GENERATION_DROP, KIND
from memory.keys import distinct_key, encode_key, partition_of, unmarked_key
from memory.records import ErasureCommand, SessionCommand
from memory.topics import MESSAGES, TopicSpec
from runtime.control.erasure import subject_of
from runtime.kafka import KafkaOffsets, OutgoingRecord, Producer, TopicPartition, read_topic
from runtime.seals import Keyring
from runtime.settings import Settings

BATCH: Final = 500
"""Records that are sent at once."""

_Raw: TypeAlias = "ConsumerRecord[bytes | None, bytes | None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who is erased, and who wants it."""

    tenant: str
    user: str
    by: str
    """For the audit."""
    reason: str = ""
    """Kept for ever, in the control log and the audit."""

    @property
    def digest(self) -> str:
        """What stands for the user there."""
        return subject_of(self.tenant, self.user)


@dataclass(slots=True)
class WrittenRecords:
    """Records of the user's as they lie in a topic that is compacted."""

    keys: dict[bytes, None] = field(default_factory=dict)
    unmarked: int = 0
    """Records of an installation of before, whose keys compaction cannot tell apart."""

    def add(self, key: bytes) -> None:
        """Takes note of a record's key."""
        if unmarked_key(key) == key:
            self.unmarked += 1
        else:
            self.keys[key] = None


class UserLog:
    """Reads and writes what concerns one user.

    Args:
        settings: Where Kafka is.
        subject: The user.
        partitions: How many each topic has.
        producer: Sends commands and tombstones; not stopped here.
    """

    def __init__(self, settings: Settings, subject: Subject, *, partitions: int, producer: Producer) -> None:
        self._settings = settings
        self._subject = subject
        self._producer = producer
        self._keyring = Keyring.of(settings.signing)
        self._key = encode_key(subject.tenant, subject.user)
        self.partitions = range(partitions)
        self.home = partition_of(self._key, partitions)
        """Where the user's windows, extractions and recalls lie."""

    async def ends(self, spec: TopicSpec) -> dict[TopicPartition, int]:
        """The end of each partition of a topic."""
        async with KafkaOffsets(kafka=self._settings.kafka) as offsets:
            return await offsets.end_offsets([self._settings.topic(spec.name)])

    async def home_end(self, spec: TopicSpec) -> dict[TopicPartition, int]:
        """The end of the one partition of a topic that has the user's records."""
        partition = self.partition(spec)
        return {partition: (await self.ends(spec))[partition]}

    def partition(self, spec: TopicSpec) -> TopicPartition:
        """The partition of a topic that is keyed by user."""
        return TopicPartition(self._settings.topic(spec.name), self.home)

    async def records(
        self, spec: TopicSpec, *, since: Mapping[TopicPartition, int] | None = None, before: Mapping[TopicPartition, int] | None = None
    ) -> AsyncIterator[_Raw]:
        """The user's records in a topic that is keyed by user, tombstones included.

        Args:
            spec: The topic.
            since: The offset to begin at; None: the beginning.
            before: The offset to end before; None: the end that it has now.
        """
        partition = self.partition(spec)
        async with aclosing(read_topic(partition.topic, self._settings.kafka, start=since or {partition: 0})) as records:
            async for record in records:
                if before is not None and record.offset >= before[partition]:
                    return
                # A generation may bear the name of a user: what drops it is no user's.
                if unmarked_key(record.key or b"") == self._key and (KIND, GENERATION_DROP) not in record.headers:
                    yield record

    def session_command(self, partition: int) -> OutgoingRecord:
        """What has the sessions of a partition give up the user's open windows."""
        record = OutgoingRecord(
            self._settings.topic(MESSAGES.name),
            encode_key(self._subject.tenant),
            SessionCommand(command="erase", tenant=self._subject.tenant, user=self._subject.user).to_json(),
            headers=((KIND, COMMAND),),
            partition=partition,
        )
        return record if self._keyring is None else self._keyring.sealed(record, now_ms=int(datetime.now(UTC).timestamp() * 1000))

    def command(self, spec: TopicSpec, command: ErasureCommand, partition: int) -> OutgoingRecord:
        """What tells a stage behind the sessions.

        Args:
            spec: The stage's source.
            command: What it is told.
            partition: Of that source.
        """
        key = distinct_key(command.tenant, command.user)
        return OutgoingRecord(self._settings.topic(spec.name), key, command.to_json(), headers=((KIND, ERASURE),), partition=partition)

    async def send(self, records: Iterable[OutgoingRecord]) -> None:
        """Produces records; durable on return."""
        every = list(records)
        for start in range(0, len(every), BATCH):
            await self._producer.send_many(every[start : start + BATCH])
