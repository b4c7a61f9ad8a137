"""The dead letters of a run: those that belong there, those that do not, and those that an operator drives again."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from runtime.kafka import OutgoingRecord, Producer
from runtime.settings import Settings
from tests.chaos.logs import LogRecord, read_log

_STORY = "varve-dlq-"
_REFUSED_ANSWER = "bad_answer"
_SOURCES = ("messages", "windows", "extractions", "contributions", "memories")


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter, with what its headers tell."""

    record: LogRecord
    told: dict[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """Where the record lay that could not be processed."""
        return f"{self.told.get('topic')}/{self.told.get('partition')}/{self.told.get('offset')}"

    @property
    def reason(self) -> str:
        """Why."""
        return self.told.get("reason", "")

    @property
    def source_headers(self) -> tuple[tuple[str, bytes], ...]:
        """The headers of the record as its producer wrote them."""
        return tuple((name, value) for name, value in self.record.headers if not name.startswith(_STORY))


async def read_letters(settings: Settings) -> list[Letter]:
    """All dead letters there are."""
    return [
        Letter(record, {name.removeprefix(_STORY): value.decode() for name, value in record.headers if name.startswith(_STORY)})
        for record in await read_log(settings, "dead-letters")
    ]


async def misplaced_letters(settings: Settings) -> list[str]:
    """What is wrong with the dead letters: a record there that does not belong there, one that is not untouched, one that is missing.

    A record may lie there twice: its stage may have been killed between the letter and the commit. Windows to which the model gave no
    answer belong there, once each try.
    """
    letters = await read_letters(settings)
    sources: dict[str, LogRecord] = {}
    for topic in _SOURCES:
        sources |= {str(record.position): record for record in await read_log(settings, topic)}
    wrong = [found for letter in letters if (found := _fault_of(letter, sources)) is not None]
    lying = {letter.source for letter in letters}
    wrong += [
        f"no dead letter of {record.position} ({record.poison})"
        for record in _poison(sources.values())
        if str(record.position) not in lying
    ]
    return wrong


async def drive_again(settings: Settings, known: set[str]) -> int:
    """Does what an operator does about windows that got no answer: sends them to their stage again, each letter once.

    Args:
        settings: Where Kafka is.
        known: The letters that were driven before; those of this call are added.

    Returns:
        How many there were.
    """
    found = [
        letter for letter in await read_letters(settings) if letter.reason == _REFUSED_ANSWER and str(letter.record.position) not in known
    ]
    records = []
    for letter in found:
        known.add(str(letter.record.position))
        headers = letter.source_headers
        if not any(name == "varve-origin" for name, _ in headers):
            headers = (*headers, ("varve-origin", letter.source.encode()))
        records.append(
            OutgoingRecord(
                topic=letter.told["topic"],
                key=letter.record.key or b"",
                value=letter.record.value,
                headers=list(headers),
                partition=int(letter.told["partition"]),
            )
        )
    if records:
        async with Producer(kafka=settings.kafka) as producer:
            await producer.send_many(records)
    return len(records)


def _fault_of(letter: Letter, sources: dict[str, LogRecord]) -> str | None:
    source = sources.get(letter.source)
    if source is None:
        return f"a dead letter of {letter.source}, where nothing lies"
    if (source.key, source.value, source.headers) != (letter.record.key, letter.record.value, letter.source_headers):
        return f"the dead letter of {letter.source} is not the record that lies there"
    due = source.poison if source.poison is not None else _REFUSED_ANSWER
    if letter.reason != due:
        return f"{letter.source} is in the dead letters as {letter.reason!r} ({letter.told.get('detail', '')[:200]}), not as {due!r}"
    return None


def _poison(records: Iterable[LogRecord]) -> list[LogRecord]:
    return [record for record in records if record.poison is not None]
