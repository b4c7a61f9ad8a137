"""The dead letters of a run: which are expected, which are not, and which an operator redrives."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memory.positions import LogPosition
from runtime.dead_letters.metadata import read_resolution
from runtime.kafka import OutgoingRecord, Producer
from runtime.settings import Settings
from tests.chaos.topic_log import LogHistory, LogRecord, read_log

_METADATA_PREFIX = "varve-dlq-"
_REFUSED_ANSWER = "bad_answer"
_SOURCES = ("messages", "windows", "extractions", "contributions", "memories")


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A dead letter with the metadata of its headers."""

    record: LogRecord
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The position of the record that could not be processed: ``topic/partition/offset``."""
        return f"{self.metadata.get('topic')}/{self.metadata.get('partition')}/{self.metadata.get('offset')}"

    @property
    def reason(self) -> str:
        """Why it could not."""
        return self.metadata.get("reason", "")

    @property
    def source_headers(self) -> tuple[tuple[str, bytes], ...]:
        """The headers of the record as its producer wrote them."""
        return tuple((name, value) for name, value in self.record.headers if not name.startswith(_METADATA_PREFIX))


async def read_letters(settings: Settings) -> list[DeadLetter]:
    """All dead letters there are, without the notes of their outcomes."""
    return [
        DeadLetter(
            record,
            {name.removeprefix(_METADATA_PREFIX): value.decode() for name, value in record.headers if name.startswith(_METADATA_PREFIX)},
        )
        for record in await read_log(settings, "dead-letters")
        if read_resolution(record.headers) is None
    ]


async def dead_letter_problems(settings: Settings, history: LogHistory) -> list[str]:
    """Lists what is wrong with the dead letters: one that was not expected, one that was changed, one that is missing.

    A record may be there twice: its stage may have been killed between the dead letter and the commit. Windows without a usable answer
    are expected, once for each redrive.

    Args:
        settings: Where Kafka is.
        history: All records that the topics ever had: after a truncation, several records had one position.
    """
    letters = await read_letters(settings)
    sources: dict[str, list[LogRecord]] = defaultdict(list)
    driven_again: dict[str, list[LogRecord]] = defaultdict(list)
    for topic in _SOURCES:
        for record in await history.read(topic):
            sources[str(record.position)].append(record)
            driven_again[(record.header("varve-origin") or b"").decode()].append(record)
    problems = [problem for letter in letters if (problem := _problem_of(letter, sources, driven_again)) is not None]
    dead = {letter.source for letter in letters}
    problems += [
        f"no dead letter of {place} ({record.poison})"
        for place, records in sources.items()
        for record in records
        if record.poison is not None and place not in dead and not history.is_lost(record.position)
    ]
    return problems


async def redrive(settings: Settings, known: set[str]) -> int:
    """Does what an operator does about windows without an answer: sends them to their stage again, each letter once.

    Args:
        settings: Where Kafka is.
        known: The positions of the letters redriven before; those of this call are added.

    Returns:
        How many there were.
    """
    purged = await _purged(settings)
    refused = [
        letter
        for letter in await read_letters(settings)
        if letter.reason == _REFUSED_ANSWER and str(letter.record.position) not in known | purged
    ]
    records = []
    for letter in refused:
        known.add(str(letter.record.position))
        headers = letter.source_headers
        if not any(name == "varve-origin" for name, _ in headers):
            headers = (*headers, ("varve-origin", letter.source.encode()))
        records.append(
            OutgoingRecord(
                topic=letter.metadata["topic"],
                key=letter.record.key or b"",
                value=letter.record.value,
                headers=tuple(headers),
                partition=int(letter.metadata["partition"]),
            )
        )
    if records:
        async with Producer(kafka=settings.kafka) as producer:
            await producer.send_many(records)
    return len(records)


async def _purged(settings: Settings) -> set[str]:
    """The positions of purged letters: an erasure purges those of its user, and nobody may send them again."""
    noted = [(record, read_resolution(record.headers)) for record in await read_log(settings, "dead-letters")]
    return {
        str(LogPosition(record.topic, record.partition, resolution.offset))
        for record, resolution in noted
        if resolution is not None and resolution.outcome == "purged"
    }


def _problem_of(
    letter: DeadLetter, sources: Mapping[str, Sequence[LogRecord]], driven_again: Mapping[str, Sequence[LogRecord]]
) -> str | None:
    if letter.source not in sources:
        # Of two records of one window compaction keeps the later one: what was driven again stands for what was refused.
        kept = [each for each in driven_again.get(letter.source, ()) if (each.key, each.value) == (letter.record.key, letter.record.value)]
        if letter.reason == _REFUSED_ANSWER and kept:
            return None
        return f"a dead letter of {letter.source}, which does not exist"
    content = (letter.record.key, letter.record.value, letter.source_headers)
    source = next((each for each in sources[letter.source] if (each.key, each.value, each.headers) == content), None)
    if source is None:
        return f"the dead letter of {letter.source} is not the record at that position"
    expected = source.poison if source.poison is not None else _REFUSED_ANSWER
    if letter.reason != expected:
        return (
            f"{letter.source} is in the dead letters as {letter.reason!r} ({letter.metadata.get('detail', '')[:200]}), not as {expected!r}"
        )
    return None
