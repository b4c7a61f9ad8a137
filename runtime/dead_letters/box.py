"""The dead-letter topic: listed, opened, redriven, purged.

What became of a letter is written behind it in the same partition, as a resolution: it is kept as long as the letter and needs no other
store. A letter is redriven first and resolved then. An interruption in between redrives it twice, which is harmless (``docs/delivery.md``).

A purge is a resolution, too, for the topic cannot delete single records. From then on the letter is neither listed nor redriven. Its bytes
go at once where all letters before it in the partition are purged, and otherwise with the topic's retention.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from aiokafka import ConsumerRecord
from aiokafka.admin import RecordsToDelete

from memory.errors import RecordTooLargeError, VarveError
from memory.positions import LogPosition
from memory.topics import DEAD_LETTERS, MEMORIES
from runtime.clocks import Clock
from runtime.dead_letters.letters import Letter, LetterSelection, LetterWithContent, apply_resolutions, deletable_before
from runtime.dead_letters.metadata import (
    ANSWER,
    Outcome,
    Resolution,
    headers_to_redrive,
    read_metadata,
    read_resolution,
    resolution_headers,
    tenant_of,
    without_metadata,
)
from runtime.errors import DeadLetterMissingError
from runtime.kafka import OutgoingRecord, Producer, TopicPartition, read_topic
from runtime.kafka.client import admin_client
from runtime.settings import Settings

_BATCH: Final = 500

_Record: TypeAlias = "ConsumerRecord[bytes | None, bytes | None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedriveResult:
    """What came of a redrive."""

    redriven: int = 0
    superseded: int = 0
    """Changes of memories that have a newer value in the feed: nothing to redrive."""
    refused: tuple[str, ...] = ()
    """Those that Kafka does not take, each with its position and why. They stay open."""


class _Newest(NamedTuple):
    offset: int
    value: bytes | None


class DeadLetterBox:
    """Operators' way to the dead letters.

    Args:
        settings: Where Kafka is.
        producer: Produces what is redriven, and the resolutions; not stopped here.
        clock: The wall clock of the resolutions.
    """

    def __init__(self, *, settings: Settings, producer: Producer, clock: Clock) -> None:
        self._settings = settings
        self._producer = producer
        self._clock = clock
        self._topic = settings.topic(DEAD_LETTERS.name)
        self._memories = settings.topic(MEMORIES.name)

    async def letters(self, selection: LetterSelection) -> list[Letter]:
        """The selected letters, by the time they were given up.

        Raises:
            KafkaUnavailableError: If no broker answers.
            TopicMissingError: If there is no dead-letter topic.
        """
        known, _ = await self._all()
        return sorted(filter(selection.matches, known), key=lambda letter: (letter.metadata.last_time, letter.position))

    async def open(self, position: LogPosition) -> LetterWithContent:
        """One letter with its content.

        Raises:
            DeadLetterMissingError: If none lies there, or it was purged.
            KafkaUnavailableError: If no broker answers.
            TopicMissingError: If there is no dead-letter topic.
        """
        everything = LetterSelection(positions=frozenset({position}), states=frozenset({"open", "redriven", "superseded"}))
        async for record, letter in self._records(await self.letters(everything)):
            headers = tuple(record.headers)
            answer = next((value.decode("utf-8", "replace") for name, value in headers if name == ANSWER), None)
            return LetterWithContent(letter, record.value, without_metadata(headers), answer)
        raise DeadLetterMissingError(f"no dead letter lies at {position.within_topic}, or it was purged; see `varve dlq list`")

    async def redrive(self, selection: LetterSelection) -> RedriveResult:
        """Sends letters to their stages again, each with the key, value, headers and identity it had. Durable on return.

        A change of a memory is redriven only while it is the newest in the feed, which is compacted to the newest: an older value must not
        become the memory again.

        Raises:
            KafkaUnavailableError: If Kafka does not take it; calling again goes on.
            TopicMissingError: If a topic is missing.
        """
        selected = await self.letters(selection)
        newest = await self._newest({letter.key for letter in selected if letter.metadata.topic == self._memories})
        redriven, superseded = 0, 0
        refused: list[str] = []
        async for batch in _batches(self._records(selected)):
            plain = [(record, letter) for record, letter in batch if letter.metadata.topic != self._memories]
            outcomes = await self._producer.send_each([_outgoing(record, letter) for record, letter in plain])
            sent: list[Letter] = []
            for (_, letter), outcome in zip(plain, outcomes, strict=True):
                if isinstance(outcome, RecordTooLargeError):
                    refused.append(f"{letter.position.within_topic}: {outcome}")
                elif isinstance(outcome, VarveError):
                    raise outcome
                else:
                    sent.append(letter)
            stale: list[Letter] = []
            for record, letter in batch:
                if letter.metadata.topic == self._memories:
                    is_redriven = await self._redrive_memory(record, letter, newest)
                    (sent if is_redriven else stale).append(letter)
            await self._resolve("redriven", sent)
            await self._resolve("superseded", stale)
            redriven += len(sent)
            superseded += len(stale)
        return RedriveResult(redriven=redriven, superseded=superseded, refused=tuple(refused))

    async def purge(self, selection: LetterSelection) -> int:
        """Puts letters away for good.

        Returns:
            How many.

        Raises:
            KafkaUnavailableError: If Kafka does not take it.
            TopicMissingError: If there is no dead-letter topic.
        """
        selected = await self.letters(selection)
        await self._resolve("purged", selected)
        known, ends = await self._all()
        bounds = deletable_before(known, ends)
        if bounds:
            async with admin_client(self._settings.kafka) as admin:
                await admin.delete_records(
                    {TopicPartition(self._topic, partition): RecordsToDelete(bound) for partition, bound in bounds.items()}
                )
        return len(selected)

    async def _all(self) -> tuple[list[Letter], dict[int, int]]:
        """All letters with what became of them, and up to where each partition was read."""
        letters: list[Letter] = []
        resolutions: list[tuple[int, Resolution]] = []
        ends: dict[int, int] = {}
        async for record in read_topic(self._topic, self._settings.kafka):
            ends[record.partition] = record.offset + 1
            letter = _letter(record)
            resolution = read_resolution(record.headers) if letter is None else None
            if letter is not None:
                letters.append(letter)
            elif resolution is not None:
                resolutions.append((record.partition, resolution))
        return apply_resolutions(letters, resolutions), ends

    async def _records(self, letters: Sequence[Letter]) -> AsyncIterator[tuple[_Record, Letter]]:
        if not letters:
            return
        by_position = {letter.position: letter for letter in letters}
        async for record in read_topic(self._topic, self._settings.kafka):
            letter = by_position.get(_position(record))
            if letter is not None:
                yield record, letter

    async def _newest(self, keys: set[bytes | None]) -> dict[bytes, _Newest]:
        """Of each key the newest record in the feed."""
        found: dict[bytes, _Newest] = {}
        if keys:
            async for record in read_topic(self._memories, self._settings.kafka):
                if record.key in keys:
                    found[record.key or b""] = _Newest(record.offset, record.value)
        return found

    async def _redrive_memory(self, record: _Record, letter: Letter, newest: dict[bytes, _Newest]) -> bool:
        """Redrives a change of a memory unless it has a newer one; one that comes in between is sent again behind it."""
        key = record.key or b""
        found = newest.get(key)
        if found is None or found.offset != letter.metadata.offset:
            return False
        position = await self._producer.send_many([_outgoing(record, letter)])
        newest[key] = _Newest(position[0].offset, record.value)
        overtaken_at = letter.metadata.offset
        while (overtaken := await self._between(key, overtaken_at, position[0])) is not None:
            again = OutgoingRecord(topic=self._memories, key=key, value=overtaken.value, partition=position[0].partition)
            overtaken_at = position[0].offset
            position = await self._producer.send_many([again])
            newest[key] = _Newest(position[0].offset, overtaken.value)
        return True

    async def _between(self, key: bytes, after: int, before: LogPosition) -> _Newest | None:
        """The newest record of a key between two offsets of a partition."""
        found: _Newest | None = None
        start = {TopicPartition(self._memories, before.partition): after + 1}
        async for record in read_topic(self._memories, self._settings.kafka, start=start):
            if record.key == key and after < record.offset < before.offset:
                found = _Newest(record.offset, record.value)
        return found

    async def _resolve(self, outcome: Outcome, letters: Sequence[Letter]) -> None:
        now = self._clock.now()
        records = [
            OutgoingRecord(
                topic=self._topic,
                key=letter.key,
                value=None,
                headers=resolution_headers(letter.resolved(outcome, now)),
                partition=letter.position.partition,
            )
            for letter in letters
        ]
        for start in range(0, len(records), _BATCH):
            await self._producer.send_many(records[start : start + _BATCH])


def _letter(record: _Record) -> Letter | None:
    metadata = read_metadata(record.headers)
    if metadata is None:
        return None
    with_tenant = metadata.model_copy(update={"tenant": tenant_of(record.key, record.value)})
    return Letter(_position(record), with_tenant, record.key, len(record.value or b""))


def _position(record: _Record) -> LogPosition:
    return LogPosition(record.topic, record.partition, record.offset)


def _outgoing(record: _Record, letter: Letter) -> OutgoingRecord:
    source = letter.metadata
    headers = headers_to_redrive(record.headers, source)
    return OutgoingRecord(topic=source.topic, key=record.key, value=record.value, headers=headers, partition=source.partition)


async def _batches(records: AsyncIterator[tuple[_Record, Letter]]) -> AsyncIterator[list[tuple[_Record, Letter]]]:
    batch: list[tuple[_Record, Letter]] = []
    async for each in records:
        batch.append(each)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
