"""What goes into a stage, and what comes out of it."""

from dataclasses import dataclass, replace
from typing import Final

from memory.headers import origin_of
from memory.positions import LogPosition
from runtime.tracing import PRODUCED_AT, TRACEPARENT, Trace

Headers = tuple[tuple[str, bytes], ...]

FORWARDED: Final = "varve-forwarded"
"""Header of a record that lay in another partition than its key says, and was forwarded once."""

_LONGEST_TIME: Final = 15
"""Digits of a time in milliseconds; a longer one is no time."""


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
    def position(self) -> LogPosition:
        """Where the record lies."""
        return LogPosition(self.topic, self.partition, self.offset)

    @property
    def origin(self) -> LogPosition:
        """Where the record first lay, before it was forwarded or redriven."""
        return origin_of(self.headers) or self.position

    @property
    def produced_ms(self) -> int:
        """When the application produced what the record comes of, in milliseconds since the epoch."""
        told = self.header(PRODUCED_AT) or b""
        return int(told) if told.isdigit() and len(told) <= _LONGEST_TIME else int(self.timestamp * 1000)

    @property
    def trace_id(self) -> str | None:
        """The trace that it belongs to, for the log."""
        trace = Trace.from_headers(self.headers)
        return None if trace is None else trace.trace_id

    @property
    def context(self) -> Headers:
        """What all that comes of the record bears: its trace, if it has one, and when it was produced."""
        trace = self.header(TRACEPARENT)
        produced_at = (PRODUCED_AT, b"%d" % self.produced_ms)
        return (produced_at,) if trace is None else ((TRACEPARENT, trace), produced_at)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A record to be produced."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    partition: int | None = None
    """None: where its key belongs."""

    def caused_by(self, record: Delivered) -> "Outgoing":
        """The same, with the context of the record that it comes of; a context of its own stays."""
        own = {name for name, _ in self.headers}
        return replace(self, headers=(*self.headers, *(header for header in record.context if header[0] not in own)))
