"""The records of a topic, as a chaos run reads them back."""

from dataclasses import dataclass

from memory.positions import LogPosition
from runtime.kafka import read_topic
from runtime.settings import Settings

POISON = "chaos-poison"
"""Header of a record that must be refused: the expected reason."""


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record of a topic."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]

    def header(self, name: str) -> bytes | None:
        """The last header with a name."""
        return next((value for each, value in reversed(self.headers) if each == name), None)

    @property
    def position(self) -> LogPosition:
        """Its position in the log."""
        return LogPosition(self.topic, self.partition, self.offset)

    @property
    def poison(self) -> str | None:
        """The reason for which it must be refused; None for a good record."""
        reason = self.header(POISON)
        return None if reason is None else reason.decode()


async def read_log(settings: Settings, topic: str) -> list[LogRecord]:
    """All records of a topic (named without prefix), in order within a partition."""
    name = settings.topic(topic)
    return [
        LogRecord(name, record.partition, record.offset, record.key, record.value, tuple(record.headers))
        async for record in read_topic(name, settings.kafka)
    ]
