"""Trace context as it travels: W3C ``traceparent`` over HTTP and in record headers, with the time a record was produced.

The form is that of the W3C Trace Context recommendation, section 3.2: ``00-<trace id>-<parent id>-<flags>``.
"""

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

TRACEPARENT: Final = "traceparent"
PRODUCED_AT: Final = "varve-produced-at"
"""Record header: when the record was produced, milliseconds since 1970 as decimal text."""

Headers = tuple[tuple[str, bytes], ...]
"""A record's headers: names and values, in order; a name may stand more than once."""

_FORM: Final = re.compile(r"(?!ff)[0-9a-f]{2}-(?P<trace>[0-9a-f]{32})-(?P<span>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})(-.*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One span of a trace."""

    trace_id: str
    """32 hexadecimal digits, the same along the whole way of a message."""
    span_id: str
    """16 hexadecimal digits, this span's own."""
    flags: str = "01"

    @classmethod
    def new(cls) -> Self:
        """The start of a new trace."""
        return cls(trace_id=secrets.token_hex(16), span_id=secrets.token_hex(8))

    @classmethod
    def parse(cls, traceparent: str) -> Self | None:
        """Reads a ``traceparent``; None where it is not one, for a wrong one starts a new trace."""
        match = _FORM.fullmatch(traceparent.strip())
        if match is None or not int(match["trace"], 16) or not int(match["span"], 16):
            return None
        return cls(trace_id=match["trace"], span_id=match["span"], flags=match["flags"])

    @classmethod
    def from_headers(cls, headers: Iterable[tuple[str, bytes]]) -> Self | None:
        """The trace that a record's headers carry, if they do; the last ``traceparent`` counts."""
        found = None
        for name, value in headers:
            if name == TRACEPARENT and value:
                found = cls.parse(value.decode("ascii", "replace"))
        return found

    def child(self) -> Self:
        """The next place of the same trace."""
        return type(self)(trace_id=self.trace_id, span_id=secrets.token_hex(8), flags=self.flags)

    @property
    def traceparent(self) -> str:
        """The text that travels."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"


def record_headers(trace: Trace, produced_at: datetime) -> Headers:
    """The headers that every record bears."""
    produced_ms = str(int(produced_at.timestamp() * 1000)).encode("ascii")
    return ((TRACEPARENT, trace.traceparent.encode("ascii")), (PRODUCED_AT, produced_ms))
