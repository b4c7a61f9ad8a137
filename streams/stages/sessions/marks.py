"""What lies among the stage's rows beside sessions: marks of open windows, the pages of known ids, and how far time has come.

A session's row is kept for ever, and a take-over reads none of a session without an open window. The keys of these rows begin with ``#``; a
session's, percent-encoded, holds none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from streams.engine.state.partition_state import PartitionState

CLOCK_KEY: Final = b"#clock"
"""The key of the partition's time."""

PAGES: Final = b"#page/"
"""What the keys of pages begin with."""

_OPEN: Final = b"#open/"


def mark_key(session_key: bytes) -> bytes:
    """The key of the mark of a session's open window."""
    return _OPEN + session_key


@dataclass(frozen=True, slots=True)
class OpenWindowIndex:
    """A session has an open window; the session's row holds it."""


@dataclass(frozen=True, slots=True)
class LogTime:
    """How far the log of a partition has come."""

    minute: int
    """By the append times of its records. It never goes back."""
    newest_ms: int | None = None
    """The newest event time of its messages, unless an open window holds it. None: no message has arrived yet."""


def marked_rows(states: PartitionState[Any]) -> Iterator[tuple[bytes, Any]]:
    """What a take-over has to know, by key: sessions with an open window, and pages."""
    for mark, _ in states.scan_prefix(_OPEN):
        key = mark.removeprefix(_OPEN)
        session = states.get(key)
        if session is not None:
            yield key, session
    yield from states.scan_prefix(PAGES)
