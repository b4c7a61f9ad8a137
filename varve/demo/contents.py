"""The content of the topics after a conversation."""

from collections import Counter
from dataclasses import dataclass

from memory.headers import KIND
from memory.records import DeadLetter, Memory, MemoryChange, Window
from memory.topics import DEAD_LETTERS, MEMORIES, MESSAGES, WINDOWS
from runtime.dead_letters import read_metadata
from runtime.kafka import read_topic
from runtime.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicContents:
    """The topics' contents."""

    messages: int
    windows: tuple[Window, ...]
    """By the time of their first message, each once."""
    memories: tuple[Memory, ...]
    """The last state of each, by event time."""
    dead_letters: tuple[DeadLetter, ...]

    def of_kind(self, kind: str) -> list[Memory]:
        """The memories of one kind."""
        return [memory for memory in self.memories if memory.kind == kind]


async def read_contents(settings: Settings) -> TopicContents:
    """Reads the topics from the beginning.

    Raises:
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If the topics have not been created.
    """
    return TopicContents(
        messages=await _count_messages(settings),
        windows=await _windows(settings),
        memories=await _memories(settings),
        dead_letters=await _dead_letters(settings),
    )


async def _count_messages(settings: Settings) -> int:
    kinds = Counter([KIND in dict(record.headers) async for record in read_topic(settings.topic(MESSAGES.name), settings.kafka)])
    return kinds[False]


async def _windows(settings: Settings) -> tuple[Window, ...]:
    found = [
        Window.from_json(record.value)
        async for record in read_topic(settings.topic(WINDOWS.name), settings.kafka)
        if record.value is not None
    ]
    return tuple(sorted({window.id: window for window in found}.values(), key=lambda window: window.messages[0].event_time))


async def _memories(settings: Settings) -> tuple[Memory, ...]:
    latest: dict[bytes | None, Memory | None] = {}
    async for record in read_topic(settings.topic(MEMORIES.name), settings.kafka):
        latest[record.key] = None if record.value is None else MemoryChange.from_json(record.value).memory
    return tuple(sorted((memory for memory in latest.values() if memory is not None), key=lambda memory: memory.event_time))


async def _dead_letters(settings: Settings) -> tuple[DeadLetter, ...]:
    letters = [read_metadata(tuple(record.headers)) async for record in read_topic(settings.topic(DEAD_LETTERS.name), settings.kafka)]
    return tuple(letter for letter in letters if letter is not None)
