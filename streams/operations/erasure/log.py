"""Users' records in the topics: reads them, and writes the records that erase them."""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from typing import TypeAlias

from aiokafka import ConsumerRecord

from memory.errors import RecordError
from memory.headers import COMMAND, ERASURE, GENERATION_DROP, KIND
from memory.keys import distinct_key, encode_key, partition_of, unmarked_key
from memory.positions import LogPosition
from memory.records import ErasureCommand, SessionCommand, Window
from memory.topics import EXTRACTIONS, MESSAGES, WINDOWS, TopicSpec
from runtime.kafka import KafkaOffsets, OutgoingRecord, Producer, TopicPartition, read_topic
from runtime.seals import Keyring
from runtime.settings import Settings
from streams.operations.erasure.erased_user import ErasedUser

_Raw: TypeAlias = "ConsumerRecord[bytes | None, bytes | None]"


class UsersLog:
    """Reads and writes records of some users of a tenant. Each topic is read once for all of them.

    Args:
        producer: Sends commands and tombstones. The caller stops it.
        offsets: Reads the ends of topics. The caller stops it.
    """

    def __init__(
        self,
        settings: Settings,
        tenant: str,
        users: Sequence[ErasedUser],
        *,
        partitions: int,
        producer: Producer,
        offsets: KafkaOffsets,
    ) -> None:
        self._settings = settings
        self._tenant = tenant
        self._producer = producer
        self._offsets = offsets
        self._keyring = Keyring.of(settings.signing)
        self._by_key = {each.key: each for each in users}
        self._homes = {each.home for each in users}
        self.partitions = range(partitions)

    async def ends(self, spec: TopicSpec) -> dict[TopicPartition, int]:
        """The end of each partition of a topic."""
        return await self._offsets.end_offsets([self._settings.topic(spec.name)])

    async def home_ends(self, spec: TopicSpec) -> dict[TopicPartition, int]:
        """The ends of those partitions of a topic that have the users' records."""
        return {partition: end for partition, end in (await self.ends(spec)).items() if partition.partition in self._homes}

    def home(self, spec: TopicSpec, user: ErasedUser) -> TopicPartition:
        """The partition of a topic keyed by user that has a user's records."""
        return TopicPartition(self._settings.topic(spec.name), user.home)

    def home_of(self, user: str) -> int:
        """The number of the partition that has a user's records, in a topic that is keyed by user."""
        return partition_of(encode_key(self._tenant, user), len(self.partitions))

    async def records(
        self, spec: TopicSpec, *, since: Mapping[TopicPartition, int] | None = None, before: Mapping[TopicPartition, int] | None = None
    ) -> AsyncIterator[tuple[ErasedUser, _Raw]]:
        """The users' records in a topic that is keyed by user, tombstones included, each with its user.

        Args:
            spec: The topic.
            since: The offset to begin at, by partition; None: the beginning.
            before: The offset to end before; None: the end that it has now.
        """
        topic = self._settings.topic(spec.name)
        start = since or {TopicPartition(topic, each): 0 for each in self._homes}
        async with aclosing(read_topic(topic, self._settings.kafka, start=start)) as records:
            async for record in records:
                if before is not None and record.offset >= before[TopicPartition(topic, record.partition)]:
                    continue
                user = self._by_key.get(unmarked_key(record.key or b""))
                # A generation may have the name of a user; the record that drops it belongs to no user.
                if user is not None and (KIND, GENERATION_DROP) not in record.headers:
                    yield user, record

    async def records_of_others(self, others: Collection[str]) -> AsyncIterator[_Raw]:
        """Other users' records in ``extractions``, tombstones included, up to the topic's present end."""
        topic, keys = self._settings.topic(EXTRACTIONS.name), {encode_key(self._tenant, each) for each in others}
        start = {TopicPartition(topic, partition_of(each, len(self.partitions))): 0 for each in keys}
        async with aclosing(read_topic(topic, self._settings.kafka, start=start)) as records:
            async for record in records:
                if unmarked_key(record.key or b"") in keys and (KIND, GENERATION_DROP) not in record.headers:
                    yield record

    async def shared_windows(self, *, before: Mapping[TopicPartition, int]) -> AsyncIterator[tuple[int, Window]]:
        """The tenant's shared windows, each revision with its partition. Their keys name a session, not a user."""
        topic, prefix = self._settings.topic(WINDOWS.name), encode_key(self._tenant) + b"/"
        async with aclosing(read_topic(topic, self._settings.kafka)) as records:
            async for record in records:
                is_late = record.offset >= before.get(TopicPartition(topic, record.partition), 0)
                if is_late or record.value is None or b'"users":["' not in record.value or not (record.key or b"").startswith(prefix):
                    continue
                with suppress(RecordError):  # not a window: it is in the dead letters
                    window = Window.from_json(record.value)
                    if window.users:
                        yield record.partition, window

    def session_command(self, user: ErasedUser, partition: int) -> OutgoingRecord:
        """The command that makes a partition's sessions discard a user's open windows."""
        record = OutgoingRecord(
            self._settings.topic(MESSAGES.name),
            encode_key(self._tenant),
            SessionCommand(command="erase", tenant=self._tenant, user=user.user).to_json(),
            headers=((KIND, COMMAND),),
            partition=partition,
        )
        return record if self._keyring is None else self._keyring.sealed(record, now_ms=int(datetime.now(UTC).timestamp() * 1000))

    def command(self, spec: TopicSpec, command: ErasureCommand, partition: int) -> OutgoingRecord:
        """The record that sends a command to a stage after the sessions."""
        key = distinct_key(command.tenant, command.user)
        return OutgoingRecord(self._settings.topic(spec.name), key, command.to_json(), headers=((KIND, ERASURE),), partition=partition)

    async def send(self, records: Iterable[OutgoingRecord]) -> list[LogPosition]:
        """Produces records; durable on return.

        Returns:
            Their positions, in their order.
        """
        return await self._producer.send_in_batches([*records])
