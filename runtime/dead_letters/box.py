"""The dead-letter topic: listed, opened, redriven, purged.

What became of a letter is written behind it in the same partition, as a resolution: it is kept as long as the letter and needs no other
store. A letter is redriven first and resolved then. An interruption in between redrives it twice, which is harmless (``delivery.md``).

A purge is a resolution, too, for the topic cannot delete single records. From then on the letter is neither listed nor redriven. Its bytes
go at once where all letters before it in the partition are purged, and otherwise with the topic's retention.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from aiokafka import ConsumerRecord

from memory.errors import RecordTooLargeError, VarveError
from memory.positions import LogPosition
from memory.topics import DEAD_LETTERS, EXTRACTIONS, MEMORIES, MESSAGES, RECALLS, WINDOWS
from runtime.clocks import Clock
from runtime.dead_letters.log import FoundLetter, LetterLog
from runtime.dead_letters.memory_redrive import MemoryRedrive
from runtime.dead_letters.metadata import (
    Outcome,
    resolution_headers,
)
from runtime.dead_letters.records import NOT_PURGED, Letter, LetterSelection, LetterWithContent, deletable_before
from runtime.dead_letters.redriven import redriven_record
from runtime.errors import DeadLetterMissingError
from runtime.kafka import OutgoingRecord, Producer, TopicPartition
from runtime.kafka.deletion import delete_before
from runtime.seals import Keyring
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


@dataclass(slots=True)
class _BatchOutcome:
    sent: list[Letter] = field(default_factory=list)
    stale: list[Letter] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def refuse(self, letter: Letter, error: Exception) -> None:
        """Notes that a letter stays open, and why."""
        self.refused.append(f"{letter.position.within_topic}: {error}")


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
        self._log = LetterLog(topic=self._topic, kafka=settings.kafka)
        self._memories = settings.topic(MEMORIES.name)
        self._messages = settings.topic(MESSAGES.name)
        self._keyed_by_user = {settings.topic(each.name) for each in (WINDOWS, EXTRACTIONS, RECALLS)}
        self._keyring = Keyring.of(settings.signing)

    async def letters(self, selection: LetterSelection) -> list[Letter]:
        """The selected letters, by the time they were given up.

        Raises:
            KafkaUnavailableError: If no broker answers.
            TopicMissingError: If there is no dead-letter topic.
        """
        known, _ = await self._log.letters()
        return sorted(filter(selection.matches, known), key=lambda letter: (letter.metadata.last_time, letter.position))

    async def open(self, position: LogPosition, *, tenant: str | None = None) -> LetterWithContent:
        """One letter with its content.

        Args:
            position: Where it lies.
            tenant: Whose it has to be; None: anybody's.

        Raises:
            DeadLetterMissingError: If none lies there, or it was purged, or is another tenant's.
            KafkaUnavailableError: If no broker answers.
            TopicMissingError: If there is no dead-letter topic.
        """
        everything = LetterSelection(tenant=tenant, positions=frozenset({position}), states=NOT_PURGED)
        async for each in self._log.contents(await self.letters(everything)):
            content = each.content()
            return LetterWithContent(each.letter, content.key, content.value, content.headers, each.answer)
        raise DeadLetterMissingError(f"no dead letter lies at {position.within_topic}, or it was purged; see `varve dlq list`")

    async def redrive(self, selection: LetterSelection, *, is_vouched: bool = False) -> RedriveResult:
        """Sends letters to their stages again, each with the key, value, headers and identity it had. Durable on return.

        A change of a memory is redriven only while it is the newest in the feed, which is compacted to the newest: an older value must not
        become the memory again.

        Args:
            selection: Which letters.
            is_vouched: Says of the messages among them that they are who they say they are: they need no signature
                (:func:`runtime.dead_letters.redriven.redriven_record`).

        Raises:
            KafkaUnavailableError: If Kafka does not take it; calling again goes on.
            TopicMissingError: If a topic is missing.
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
        known, ends = await self._log.letters()
        bounds = {TopicPartition(self._topic, partition): bound for partition, bound in deletable_before(known, ends).items()}
        await delete_before(bounds, self._settings.kafka)
        return len(selected)

    async def of_users(self, tenant: str, users: Collection[str]) -> dict[str, list[LetterWithContent]]:
        """Users' letters that are not purged, by what their records say; of one in parts the first alone.

        Args:
            tenant: Whose users.
            users: They.

        Returns:
            The letters of each.

        Raises:
            KafkaUnavailableError: If no broker answers.
            TopicMissingError: If there is no dead-letter topic.
        """
        kept = LetterSelection(states=NOT_PURGED)
        letters = [each for each in await self.letters(kept) if each.metadata.tenant in (tenant, None)]
        found: dict[str, list[LetterWithContent]] = {user: [] for user in users}
        async for each in self._log.contents(letters):
            letter = LetterWithContent(each.letter, each.record.key, each.record.value, tuple(each.record.headers), each.answer)
            for user in each.users_named(tenant, found, has_users_key=each.letter.metadata.topic in self._keyed_by_user):
                found[user].append(letter)
        return found

    async def _redrive_batch(
        self, batch: Sequence[FoundLetter], memories: MemoryRedrive, for_giants: Producer, *, is_vouched: bool
    ) -> "_BatchOutcome":
        """Sends a batch to the stages; a record in parts came in compressed, and goes out by the producer that compresses."""
        result = _BatchOutcome()
        plain: list[tuple[Letter, OutgoingRecord]] = []
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

    def _outgoing(self, found: FoundLetter, *, is_vouched: bool) -> OutgoingRecord:
        content, source = found.content(), found.letter.metadata
        if content.key is None and content.value is None:
            raise DeadLetterMissingError("it has neither key nor value, which Kafka's client does not produce; purge it")
        keyring = self._keyring if source.topic == self._messages else None
        return redriven_record(content, source, keyring=keyring, now=self._clock.now(), is_vouched=is_vouched)

    async def _resolve(self, outcome: Outcome, letters: Sequence[Letter]) -> None:
        now = self._clock.now()
        records = [
            OutgoingRecord(
                topic=self._topic,
                # Kafka's client takes no record without key and value.
                key=letter.key or b"",
                value=None,
                headers=resolution_headers(letter.resolved(outcome, now)),
                partition=letter.position.partition,
            )
            for letter in letters
        ]
        await self._producer.send_in_batches(records)


async def _batches(records: AsyncIterator[FoundLetter]) -> AsyncIterator[list[FoundLetter]]:
    """Batches in order; a letter in parts is one by itself, for it is sent by itself."""
    batch: list[FoundLetter] = []
    async for each in records:
        if each.letter.parts and batch:
            yield batch
            batch = []
        batch.append(each)
        if len(batch) == _BATCH or each.letter.parts:
            yield batch
            batch = []
    if batch:
        yield batch
