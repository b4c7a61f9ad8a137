"""What a stage consumes, and how the context of it goes on to what the stage produces."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memory.errors import KeyFormatError
from memory.headers import origin_of
from memory.keys import decode_key
from memory.positions import LogPosition
from memory.times import time_of_milliseconds
from runtime.kafka import OutgoingRecord
from runtime.tracing import PRODUCED_AT, TRACEPARENT, Headers, SpanContext, trace_id, trace_of

FORWARDED: Final = "varve-forwarded"
"""Header of a record that lay in another partition than its key says, and was forwarded once."""

_MAXIMUM_DIGITS: Final = 15
"""Of a time in milliseconds; more digits are no time."""


@dataclass(frozen=True, slots=True)
class ConsumedRecord:
    """A record as it lies in its log."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp: float
    """When it was appended to the log, by the broker's clock, in seconds since the epoch; by the producer's, where the topic says so."""

    def header(self, name: str) -> bytes | None:
        """The last header of that name."""
        for each, value in reversed(self.headers):
            if each == name:
                return value
        return None

    @property
    def size(self) -> int:
        """Bytes of key, value and headers' values."""
        return len(self.key or b"") + len(self.value or b"") + sum(len(value or b"") for _, value in self.headers)

    @property
    def tenant(self) -> str:
        """The tenant that its key begins with; empty where it names none."""
        try:
            return decode_key(self.key or b"")[0]
        except KeyFormatError:
            return ""

    @property
    def position(self) -> LogPosition:
        """Where the record lies."""
        return LogPosition(self.topic, self.partition, self.offset)

    @property
    def origin(self) -> LogPosition:
        """Where the record first lay, before it was forwarded or redriven."""
        return origin_of(self.headers) or self.position

    @property
    def appended_ms(self) -> int:
        """When it was appended to the log, in milliseconds since the epoch."""
        return round(self.timestamp * 1000)

    @property
    def appended_at(self) -> datetime:
        """When it was appended to the log, to the millisecond."""
        return time_of_milliseconds(self.appended_ms)

    @property
    def produced_ms(self) -> int:
        """When the application produced what the record comes of, in milliseconds since the epoch."""
        text = self.header(PRODUCED_AT) or b""
        return int(text) if text.isdigit() and len(text) <= _MAXIMUM_DIGITS else int(self.timestamp * 1000)

    @property
    def trace_id(self) -> str | None:
        """The trace that it belongs to, for the log."""
        trace = self.trace
        return None if trace is None else trace_id(trace)

    @property
    def trace(self) -> SpanContext | None:
        """The trace that it bears, if it does."""
        return trace_of(self.headers)

    @property
    def context(self) -> Headers:
        """What all that comes of the record bears: its trace, if it has one, and when it was produced."""
        trace = self.header(TRACEPARENT)
        produced_at = (PRODUCED_AT, b"%d" % self.produced_ms)
        return (produced_at,) if trace is None else ((TRACEPARENT, trace), produced_at)


def propagate_context(output: OutgoingRecord, context: Headers) -> OutgoingRecord:
    """The output with the trace context of the record that it comes of; a context of its own stays."""
    own = {name for name, _ in output.headers}
    return replace(output, headers=(*output.headers, *(header for header in context if header[0] not in own)))
