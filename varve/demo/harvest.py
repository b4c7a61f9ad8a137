"""What a conversation has become, as the topics have it."""

from collections import Counter
from dataclasses import dataclass

from memory.headers import KIND
from memory.records import DeadLetter, Memory, MemoryChange, Window
from memory.topics import DEAD_LETTERS, MEMORIES, MESSAGES, WINDOWS
from runtime.dead_letters import read_metadata
from runtime.kafka import read_topic
from runtime.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """All that lies in the topics."""

    messages: int
    windows: tuple[Window, ...]
    """In the order they were closed, each once."""
    memories: tuple[Memory, ...]
    """As the change feed leaves them, by event time."""
    dead_letters: tuple[DeadLetter, ...]

    def of_kind(self, kind: str) -> list[Memory]:
        """The memories of one kind."""
        return [memory for memory in self.memories if memory.kind == kind]


async def harvest(settings: Settings) -> Harvest:
    """Reads the topics from their beginnings.

    Raises:
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If the topics have not been created.
    """
    return Harvest(
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
    stories = [read_metadata(tuple(record.headers)) async for record in read_topic(settings.topic(DEAD_LETTERS.name), settings.kafka)]
    return tuple(story for story in stories if story is not None)
