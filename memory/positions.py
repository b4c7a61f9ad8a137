"""Positions of records in logs."""

from dataclasses import dataclass

from memory.errors import PositionFormatError


@dataclass(frozen=True, slots=True, order=True)
class LogPosition:
    """A record's topic, partition and offset, written ``topic/partition/offset``."""

    topic: str
    """The topic's name on the broker, with prefix."""
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}/{self.within_topic}"

    @property
    def within_topic(self) -> str:
        """``partition/offset``: the short form for a known topic."""
        return f"{self.partition}/{self.offset}"

    @classmethod
    def parse(cls, text: str) -> "LogPosition":
        """Reads ``topic/partition/offset``.

        Raises:
            PositionFormatError: If the text has another format.
        """
        topic, _, short = text.partition("/")
        if not topic:
            raise PositionFormatError(f"a position in a log is written topic/partition/offset, got {text[:80]!r}")
        return cls.parse_within(topic, short)

    @classmethod
    def parse_within(cls, topic: str, text: str) -> "LogPosition":
        """Reads the short form of a position in a topic.

        Raises:
            PositionFormatError: If it is not ``partition/offset``.
        """
        partition, _, offset = text.partition("/")
        if not (_is_number(partition) and _is_number(offset)):
            raise PositionFormatError(f"a position in {topic} is written partition/offset, got {text[:80]!r}")
        return cls(topic, int(partition), int(offset))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 19
