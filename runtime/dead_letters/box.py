"""The dead-letter topic: listed, opened, driven again, purged.

What became of a letter is written behind it as a note in the same partition, so that it is kept as long as the letter and needs no other
store. A letter is driven first and noted then: an interruption in between drives it twice, which is harmless (``docs/delivery.md``).

A purge is a note, too: the topic cannot forget single records. From then on the letter is neither shown nor driven; its bytes go at once
where all letters before it in the partition are purged, and otherwise with the topic's retention.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from aiokafka import ConsumerRecord
from aiokafka.admin import RecordsToDelete

from memory.errors import RecordTooLargeError, VarveError
from memory.topics import DEAD_LETTERS, MEMORIES
from runtime.clocks import Clock
from runtime.dead_letters.letters import Letter, Opened, Place, Selection, note_of, removable, settled
from runtime.dead_letters.metadata import (
    ANSWER,
    Note,
    Settlement,
    headers_to_redrive,
    note_headers,
    read_metadata,
    read_note,
    tenant_of,
    without_metadata,
)
from runtime.errors import DeadLetterMissingError
from runtime.kafka import OutgoingRecord, Position, Producer, TopicPartition, read_topic
from runtime.kafka.client import admin_client
from runtime.settings import Settings

_AT_ONCE: Final = 500

_Record: TypeAlias = "ConsumerRecord[bytes | None, bytes | None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """What came of a redrive."""

    redriven: int = 0
    superseded: int = 0
    """Changes of memories that have a newer value in the feed: nothing to drive again."""
    refused: tuple[str, ...] = ()
    """Those that Kafka does not take, each with its place and why. They stay open."""


class _Newest(NamedTuple):
    offset: int
    value: bytes | None


class DeadLetterBox:
    """Operators' way to the dead letters.

    Args:
        settings: Where Kafka is.
        producer: Produces what is driven again, and the notes; not stopped here.
        clock: The wall clock of the notes.
    """

    def __init__(self, *, settings: Settings, producer: Producer, clock: Clock) -> None:
        self._settings = settings
        self._producer = producer
        self._clock = clock
        self._topic = settings.topic(DEAD_LETTERS.name)
        self._memories = settings.topic(MEMORIES.name)

    async def letters(self, selection: Selection) -> list[Letter]:
        """The letters that are meant, by the time they were given up.

        Raises:
            KafkaUnavailableError: If no broker answers.
            TopicMissingError: If there is no dead-letter topic.
        """
        known, _ = await self._all()
        return sorted(filter(selection.matches, known), key=lambda letter: (letter.metadata.last_time, letter.place))

    async def open(self, place: Place) -> Opened:
        """One letter with its content.

        Raises:
            DeadLetterMissingError: If none lies there, or it was purged.
            KafkaUnavailableError: If no broker answers.
            TopicMissingError: If there is no dead-letter topic.
        """
        everything = Selection(places=frozenset({place}), states=frozenset({"open", "redriven", "superseded"}))
        meant = {letter.place: letter for letter in await self.letters(everything)}
        async for record, letter in self._records(meant):
            headers = tuple(record.headers)
            answer = next((value.decode("utf-8", "replace") for name, value in headers if name == ANSWER), None)
            return Opened(letter, record.value, without_metadata(headers), answer)
        raise DeadLetterMissingError(f"no dead letter lies at {place}, or it was purged; see `varve dlq list`")

    async def redrive(self, selection: Selection) -> Driven:
        """Sends letters to their stages again, each with the key, value, headers and identity it had. Durable on return.

        A change of a memory is driven only while it is the newest in the feed, which is compacted to the newest: an older value must not
        become the memory again.

        Raises:
            KafkaUnavailableError: If Kafka does not take it; calling again goes on.
            TopicMissingError: If a topic is missing.
        """
        meant = {letter.place: letter for letter in await self.letters(selection)}
        newest = await self._newest({letter.key for letter in meant.values() if letter.metadata.topic == self._memories})
        redriven, superseded = 0, 0
        refused: list[str] = []
        async for batch in _batches(self._records(meant)):
            plain = [(record, letter) for record, letter in batch if letter.metadata.topic != self._memories]
            outcomes = await self._producer.send_each([_outgoing(record, letter) for record, letter in plain])
            sent: list[Letter] = []
            for (_, letter), outcome in zip(plain, outcomes, strict=True):
                if isinstance(outcome, RecordTooLargeError):
                    refused.append(f"{letter.place}: {outcome}")
                elif isinstance(outcome, VarveError):
                    raise outcome
                else:
                    sent.append(letter)
            passed_by: list[Letter] = []
            for record, letter in batch:
                if letter.metadata.topic == self._memories:
                    driven = await self._redrive_memory(record, letter, newest)
                    (sent if driven else passed_by).append(letter)
            await self._note("redriven", sent)
            await self._note("superseded", passed_by)
            redriven += len(sent)
            superseded += len(passed_by)
        return Driven(redriven=redriven, superseded=superseded, refused=tuple(refused))

    async def purge(self, selection: Selection) -> int:
        """Puts letters away for good.

        Returns:
            How many.

        Raises:
            KafkaUnavailableError: If Kafka does not take it.
            TopicMissingError: If there is no dead-letter topic.
        """
        meant = await self.letters(selection)
        await self._note("purged", meant)
        known, ends = await self._all()
        bounds = removable(known, ends)
        if bounds:
            async with admin_client(self._settings.kafka) as admin:
                await admin.delete_records(
                    {TopicPartition(self._topic, partition): RecordsToDelete(bound) for partition, bound in bounds.items()}
                )
        return len(meant)

    async def _all(self) -> tuple[list[Letter], dict[int, int]]:
        """All letters with what became of them, and up to where each partition was read."""
        letters: list[Letter] = []
        notes: list[tuple[int, Note]] = []
        ends: dict[int, int] = {}
        async for record in read_topic(self._topic, self._settings.kafka):
            ends[record.partition] = record.offset + 1
            letter = _letter(record)
            note = read_note(record.headers) if letter is None else None
            if letter is not None:
                letters.append(letter)
            elif note is not None:
                notes.append((record.partition, note))
        return list(settled(letters, notes).values()), ends

    async def _records(self, meant: dict[Place, Letter]) -> AsyncIterator[tuple[_Record, Letter]]:
        if not meant:
            return
        async for record in read_topic(self._topic, self._settings.kafka):
            letter = meant.get(Place(record.partition, record.offset))
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
        """Drives a change of a memory, unless a newer one stands or stood; one that comes in between is put behind it again."""
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

    async def _between(self, key: bytes, after: int, before: Position) -> _Newest | None:
        """The newest record of a key between two offsets of a partition."""
        found: _Newest | None = None
        start = {TopicPartition(self._memories, before.partition): after + 1}
        async for record in read_topic(self._memories, self._settings.kafka, start=start):
            if record.key == key and after < record.offset < before.offset:
                found = _Newest(record.offset, record.value)
        return found

    async def _note(self, how: Settlement, letters: Sequence[Letter]) -> None:
        now = self._clock.now()
        notes = [
            OutgoingRecord(
                topic=self._topic,
                key=letter.key,
                value=None,
                headers=note_headers(note_of(how, letter, now)),
                partition=letter.place.partition,
            )
            for letter in letters
        ]
        for start in range(0, len(notes), _AT_ONCE):
            await self._producer.send_many(notes[start : start + _AT_ONCE])


def _letter(record: _Record) -> Letter | None:
    story = read_metadata(record.headers)
    if story is None:
        return None
    named = story.model_copy(update={"tenant": tenant_of(record.key, record.value)})
    return Letter(Place(record.partition, record.offset), named, record.key, len(record.value or b""))


def _outgoing(record: _Record, letter: Letter) -> OutgoingRecord:
    story = letter.metadata
    headers = headers_to_redrive(record.headers, story)
    return OutgoingRecord(topic=story.topic, key=record.key, value=record.value, headers=headers, partition=story.partition)


async def _batches(records: AsyncIterator[tuple[_Record, Letter]]) -> AsyncIterator[list[tuple[_Record, Letter]]]:
    batch: list[tuple[_Record, Letter]] = []
    async for each in records:
        batch.append(each)
        if len(batch) == _AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
