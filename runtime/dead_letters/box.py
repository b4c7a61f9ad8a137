"""Operations on the dead-letter topic: list, open, redrive, purge.

The outcome of a letter is a later record in the same partition, its resolution: it is kept as long as the letter and needs no other store.
A letter is redriven first and resolved then. An interruption in between redrives it twice, which is harmless (``delivery.md``).

A purge is a resolution, too, because the topic cannot delete single records. A purged letter is neither listed nor redriven. Its bytes are
deleted at once if all earlier letters of the partition are purged, otherwise by the topic's retention.

The feed is compacted: an older value must not replace a newer one.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from memory.errors import RecordTooLargeError, VarveError
from memory.positions import LogPosition
from memory.topics import DEAD_LETTERS, EXTRACTIONS, MEMORIES, MESSAGES, RECALLS, WINDOWS
from runtime.clocks import Clock
from runtime.dead_letters.log import DeadLetterLog, FoundDeadLetter
from runtime.dead_letters.metadata import (
    Outcome,
    redriven_record,
    resolution_headers,
)
from runtime.dead_letters.records import NOT_PURGED, DeadLetter, DeadLetterSelection, DeadLetterWithContent, deletable_before
from runtime.errors import DeadLetterMissingError
from runtime.kafka import OutgoingRecord, Producer, TopicPartition, read_topic
from runtime.kafka.topics import delete_before
from runtime.seals import Keyring
from runtime.settings import KafkaSettings, Settings

_BATCH: Final = 500


class _Newest(NamedTuple):
    offset: int
    value: bytes | None


class MemoryRedrive:
    """Redrives a number of letters. It reads the feed once, and after each sent record the rest of that partition."""

    def __init__(self, *, topic: str, kafka: KafkaSettings) -> None:
        self._topic = topic
        self._kafka = kafka
        self._keys: set[bytes] = set()
        self._newest: dict[bytes, _Newest] = {}
        self._read_to: dict[int, int] = {}
        """End offset that was read, by partition."""

    async def look_up(self, keys: Collection[bytes | None]) -> None:
        """Reads the newest record of each key in the feed."""
        if keys:
            self._keys.update(key or b"" for key in keys)
            async for record in read_topic(self._topic, self._kafka):
                self._note(record.key, record.partition, _Newest(record.offset, record.value))

    async def redrive(self, record: OutgoingRecord, letter: DeadLetter, producer: Producer) -> bool:
        """Redrives a change of a memory unless a newer one exists. A change that was written meanwhile is sent again after it.

        Returns:
            Whether it was sent.
        """
        key = record.key or b""
        if key not in self._keys:
            await self.look_up({key})
        found = self._newest.get(key)
        if found is None or found.offset != letter.metadata.offset:
            return False
        after, later = found.offset, list[_Newest]()
        while True:
            position = (await producer.send_many([record]))[0]
            later += await self._read_on(key, _Newest(position.offset, record.value), position.partition)
            between = [each for each in later if after < each.offset < position.offset]
            if not between:
                return True
            after = position.offset
            record = OutgoingRecord(topic=self._topic, key=key, value=between[-1].value, partition=position.partition)

    async def _read_on(self, key: bytes, sent: _Newest, partition: int) -> list[_Newest]:
        """Reads the rest of a partition, unless nothing precedes the sent record; returns the records of the key."""
        begin = self._read_to.get(partition, 0)
        if begin >= sent.offset:
            self._note(key, partition, sent)
            return []
        records: list[_Newest] = []
        async for record in read_topic(self._topic, self._kafka, start={TopicPartition(self._topic, partition): begin}):
            self._note(record.key, partition, _Newest(record.offset, record.value))
            if record.key == key:
                records.append(_Newest(record.offset, record.value))
        return records

    def _note(self, key: bytes | None, partition: int, record: _Newest) -> None:
        """Stores the newest record of a key. Records have to be passed in the order of their partition, without gaps."""
        if (key or b"") in self._keys:
            self._newest[key or b""] = record
        self._read_to[partition] = record.offset + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RedriveResult:
    """Result of a redrive."""

    redriven: int = 0
    superseded: int = 0
    """Number of changes of memories that were skipped because the feed has a newer value."""
    refused: tuple[str, ...] = ()
    """Letters that Kafka rejected, each with its position and the reason. They stay open."""


@dataclass(slots=True)
class _BatchOutcome:
    sent: list[DeadLetter] = field(default_factory=list)
    stale: list[DeadLetter] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def refuse(self, letter: DeadLetter, error: Exception) -> None:
        """Records that a letter stays open, with the reason."""
        self.refused.append(f"{letter.position.within_topic}: {error}")


class DeadLetterBox:
    """Lists, opens, redrives and purges dead letters.

    Args:
        producer: Produces redriven records and resolutions; the caller stops it.
    """

    def __init__(self, *, settings: Settings, producer: Producer, clock: Clock) -> None:
        self._settings = settings
        self._producer = producer
        self._clock = clock
        self._topic = settings.topic(DEAD_LETTERS.name)
        self._log = DeadLetterLog(topic=self._topic, kafka=settings.kafka)
        self._memories = settings.topic(MEMORIES.name)
        self._messages = settings.topic(MESSAGES.name)
        self._keyed_by_user = {settings.topic(each.name) for each in (WINDOWS, EXTRACTIONS, RECALLS)}
        self._keyring = Keyring.of(settings.signing)

    async def letters(self, selection: DeadLetterSelection) -> list[DeadLetter]:
        """The selected letters, ordered by the time of the last failure."""
        known, _ = await self._log.letters()
        return sorted(filter(selection.matches, known), key=lambda letter: (letter.metadata.last_time, letter.position))

    async def open(self, position: LogPosition, *, tenant: str | None = None) -> DeadLetterWithContent:
        """One letter with its content.

        Args:
            position: Its position in the dead-letter topic.
            tenant: Its tenant. Default: any tenant.

        Raises:
            DeadLetterMissingError: If there is none at the position, if it was purged, or if it belongs to another tenant.
        """
        everything = DeadLetterSelection(tenant=tenant, positions=frozenset({position}), states=NOT_PURGED)
        async for found_letter in self._log.contents(await self.letters(everything)):
            content = found_letter.content()
            return DeadLetterWithContent(found_letter.letter, content.key, content.value, content.headers, found_letter.answer)
        raise DeadLetterMissingError(f"no dead letter at {position.within_topic}, or it was purged; see `varve dlq list`")

    async def redrive(self, selection: DeadLetterSelection, *, is_vouched: bool = False) -> RedriveResult:
        """Sends letters to their stages again, each with its original key, value, headers and identity. Durable on return.

        A change of a memory is redriven only while it is the newest record of its key in the feed, because an older value must not
        replace a newer one.

        Args:
            selection: Which letters.
            is_vouched: The operator confirms the user of each message: messages need no signature
                (:func:`runtime.dead_letters.metadata.redriven_record`).

        Raises:
            KafkaUnavailableError: If Kafka does not accept the records; a repeated call resumes.
        """
        selected = await self.letters(selection)
        memories = MemoryRedrive(topic=self._memories, kafka=self._settings.kafka)
        await memories.look_up({letter.key for letter in selected if letter.metadata.topic == self._memories})
        redriven, superseded = 0, 0
        refused: list[str] = []
        for_giants = Producer(kafka=self._settings.kafka, fits_compressed=True)
        try:
            async for batch in _batches(self._log.contents(selected)):
                outcome = await self._redrive_batch(batch, memories, for_giants, is_vouched=is_vouched)
                await self._resolve("redriven", outcome.sent)
                await self._resolve("superseded", outcome.stale)
                redriven += len(outcome.sent)
                superseded += len(outcome.stale)
                refused += outcome.refused
        finally:
            await for_giants.stop()
        return RedriveResult(redriven=redriven, superseded=superseded, refused=tuple(refused))

    async def purge(self, selection: DeadLetterSelection) -> int:
        """Purges letters.

        Returns:
            The number of purged letters.
        """
        selected = await self.letters(selection)
        await self._resolve("purged", selected)
        known, ends = await self._log.letters()
        bounds = {TopicPartition(self._topic, partition): bound for partition, bound in deletable_before(known, ends).items()}
        await delete_before(bounds, self._settings.kafka)
        return len(selected)

    async def of_users(self, tenant: str, users: Collection[str]) -> dict[str, list[DeadLetterWithContent]]:
        """Letters of the given users that are not purged. A letter in several parts is listed without its parts.

        Returns:
            The letters by user.
        """
        kept = DeadLetterSelection(states=NOT_PURGED)
        letters = [each for each in await self.letters(kept) if each.metadata.tenant in (tenant, None)]
        found: dict[str, list[DeadLetterWithContent]] = {user: [] for user in users}
        async for found_letter in self._log.contents(letters):
            letter = DeadLetterWithContent(
                found_letter.letter,
                found_letter.record.key,
                found_letter.record.value,
                tuple(found_letter.record.headers),
                found_letter.answer,
            )
            for user in found_letter.users_named(tenant, found, has_users_key=found_letter.letter.metadata.topic in self._keyed_by_user):
                found[user].append(letter)
        return found

    async def _redrive_batch(
        self, batch: Sequence[FoundDeadLetter], memories: MemoryRedrive, for_giants: Producer, *, is_vouched: bool
    ) -> _BatchOutcome:
        """Sends a batch to the stages. A record in several parts was compressed, so the compressing producer sends it."""
        result = _BatchOutcome()
        plain: list[tuple[DeadLetter, OutgoingRecord]] = []
        producer = for_giants if batch[0].letter.parts else self._producer
        for found in batch:
            try:
                outgoing = self._outgoing(found, is_vouched=is_vouched)
                if outgoing.topic != self._memories:
                    plain.append((found.letter, outgoing))
                elif await memories.redrive(outgoing, found.letter, producer):
                    result.sent.append(found.letter)
                else:
                    result.stale.append(found.letter)
            except (DeadLetterMissingError, RecordTooLargeError) as error:
                result.refuse(found.letter, error)
        outcomes = await producer.send_each([outgoing for _, outgoing in plain])
        for (letter, _), outcome in zip(plain, outcomes, strict=True):
            if isinstance(outcome, RecordTooLargeError):
                result.refuse(letter, outcome)
            elif isinstance(outcome, VarveError):
                raise outcome
            else:
                result.sent.append(letter)
        return result

    def _outgoing(self, found: FoundDeadLetter, *, is_vouched: bool) -> OutgoingRecord:
        content, source = found.content(), found.letter.metadata
        if content.key is None and content.value is None:
            raise DeadLetterMissingError("the record has neither key nor value, which Kafka's client does not produce; purge it")
        keyring = self._keyring if source.topic == self._messages else None
        return redriven_record(content, source, keyring=keyring, now=self._clock.now(), is_vouched=is_vouched)

    async def _resolve(self, outcome: Outcome, letters: Sequence[DeadLetter]) -> None:
        now = self._clock.now()
        records = [
            OutgoingRecord(
                topic=self._topic,
                # Kafka's client rejects records without key and value.
                key=letter.key or b"",
                value=None,
                headers=resolution_headers(letter.resolved(outcome, now)),
                partition=letter.position.partition,
            )
            for letter in letters
        ]
        await self._producer.send_in_batches(records)


async def _batches(records: AsyncIterator[FoundDeadLetter]) -> AsyncIterator[list[FoundDeadLetter]]:
    """Batches in order. A letter in several parts is a batch of one, because it is sent separately."""
    batch: list[FoundDeadLetter] = []
    async for record in records:
        if record.letter.parts and batch:
            yield batch
            batch = []
        batch.append(record)
        if len(batch) == _BATCH or record.letter.parts:
            yield batch
            batch = []
    if batch:
        yield batch
