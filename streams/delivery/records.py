"""What goes into a stage, and what comes out of it."""

from dataclasses import dataclass
from typing import Final

from memory.headers import ORIGIN

Headers = tuple[tuple[str, bytes], ...]

FORWARDED: Final = "varve-forwarded"
"""Header of a record that lay in another partition than its key says, and was forwarded once."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """A record as it lies in its log."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp: float
    """When it was produced, by the broker's or producer's clock, in seconds since the epoch."""

    def header(self, name: str) -> bytes | None:
        """The last header of that name."""
        for each, value in reversed(self.headers):
            if each == name:
                return value
        return None

    @property
    def origin(self) -> str:
        """Where the record first lay, before it was forwarded or redriven."""
        first = self.header(ORIGIN)
        return first.decode("utf-8", "replace") if first else f"{self.topic}/{self.partition}/{self.offset}"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A record to be produced."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    partition: int | None = None
    """None: where its key belongs."""
