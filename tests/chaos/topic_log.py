"""The records of a topic, as a chaos run reads them back."""

from collections import defaultdict
from collections.abc import Iterable
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


class LogHistory:
    """All that the topics of a run ever held, also what a fault has removed.

    Args:
        settings: Where Kafka is.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._removed: dict[str, list[LogRecord]] = defaultdict(list)
        self._lost: set[LogPosition] = set()

    def remove(self, topic: str, records: Iterable[LogRecord], *, lost: Iterable[LogPosition] = ()) -> None:
        """Notes what a topic no longer has.

        Args:
            topic: Without prefix.
            records: What was removed, each partition's in order.
            lost: Positions of the records that no stage had handled.
        """
        self._removed[topic] += records
        self._lost |= set(lost)

    async def read(self, topic: str) -> list[LogRecord]:
        """The records of a topic (named without the prefix), in order within a partition."""
        return [*self._removed[topic], *await read_log(self._settings, topic)]

    def is_lost(self, position: LogPosition) -> bool:
        """Whether a record was removed before it was handled."""
        return position in self._lost
