"""Records that a stage consumes, and the context that its outputs inherit."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Self

from aiokafka import ConsumerRecord

from memory.headers import origin_of, place_of
from memory.keys import tenant_of_key
from memory.positions import LogPosition
from memory.times import time_of_milliseconds
from runtime.kafka import OutgoingRecord
from runtime.tracing import PRODUCED_AT, TRACEPARENT, Headers, SpanContext, trace_id, trace_of

FORWARDED: Final = "varve-forwarded"
"""Header of a record that was in the wrong partition for its key, and was forwarded once."""

_MAXIMUM_DIGITS: Final = 15
"""Digits of a time in milliseconds; more digits are no time."""


@dataclass(frozen=True, slots=True)
class ConsumedRecord:
    """A record as read from its log."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp: float
    """Append time in seconds since the epoch, by the broker's clock (or the producer's, if the topic is configured so)."""

    @classmethod
    def of(cls, read: "ConsumerRecord[bytes | None, bytes | None]") -> Self:
        """The record as aiokafka has read it."""
        return cls(read.topic, read.partition, read.offset, read.key, read.value, tuple(read.headers), read.timestamp / 1000)

    def header(self, name: str) -> bytes | None:
        """The last header with a name."""
        for each, value in reversed(self.headers):
            if each == name:
                return value
        return None

    @property
    def size(self) -> int:
        """Bytes of key, value and header values."""
        return len(self.key or b"") + len(self.value or b"") + sum(len(value or b"") for _, value in self.headers)

    @property
    def tenant(self) -> str:
        """The tenant at the start of its key; empty if there is none."""
        return tenant_of_key(self.key)

    @property
    def position(self) -> LogPosition:
        """The record's position in its log."""
        return LogPosition(self.topic, self.partition, self.offset)

    @property
    def origin(self) -> LogPosition:
        """The record's first position, before it was forwarded, redriven or copied."""
        return origin_of(self.headers) or self.place

    @property
    def place(self) -> LogPosition:
        """The record's position; of a copied record, its position in the earlier set of topics."""
        return place_of(self.headers) or self.position

    @property
    def appended_ms(self) -> int:
        """Append time in milliseconds since the epoch."""
        return round(self.timestamp * 1000)

    @property
    def appended_at(self) -> datetime:
        """Append time, to the millisecond."""
        return time_of_milliseconds(self.appended_ms)

    @property
    def produced_ms(self) -> int:
        """Time at which the application produced the original record, in milliseconds since the epoch."""
        text = self.header(PRODUCED_AT) or b""
        return int(text) if text.isdigit() and len(text) <= _MAXIMUM_DIGITS else int(self.timestamp * 1000)

    @property
    def trace_id(self) -> str | None:
        """Its trace id, for the log."""
        trace = self.trace
        return None if trace is None else trace_id(trace)

    @property
    def trace(self) -> SpanContext | None:
        """Its trace context, if it has one."""
        return trace_of(self.headers)

    @property
    def context(self) -> Headers:
        """Headers for all outputs of the record: its trace, if any, and the time of production."""
        trace = self.header(TRACEPARENT)
        produced_at = (PRODUCED_AT, b"%d" % self.produced_ms)
        return (produced_at,) if trace is None else ((TRACEPARENT, trace), produced_at)


def propagate_context(output: OutgoingRecord, context: Headers) -> OutgoingRecord:
    """The output with the trace context of its source record; an output's own context stays."""
    own = {name for name, _ in output.headers}
    return replace(output, headers=(*output.headers, *(header for header in context if header[0] not in own)))
