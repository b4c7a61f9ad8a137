"""Rows of the stage other than sessions: marks of open windows, pages of known ids, and the log's time.

A session's row is kept forever; a restore reads no session without an open window. The keys of these rows begin with ``#``; a session's key
is percent-encoded and contains none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from streams.engine.state.partition_state import PartitionState

CLOCK_KEY: Final = b"#clock"
"""Key of the partition's time."""

PAGES: Final = b"#page/"
"""Prefix of the keys of pages."""

_OPEN: Final = b"#open/"


def mark_key(session_key: bytes) -> bytes:
    """The key of the mark of a session's open window."""
    return _OPEN + session_key


@dataclass(frozen=True, slots=True)
class OpenWindowIndex:
    """Mark of a session with an open window; the session's row contains the window."""


@dataclass(frozen=True, slots=True)
class LogTime:
    """Progress of a partition's log."""

    minute: int
    """By the append times of its records. It never decreases."""
    newest_ms: int | None = None
    """The newest event time of its messages, unless an open window has it. None: no message has arrived yet."""


def marked_rows(states: PartitionState[Any]) -> Iterator[tuple[bytes, Any]]:
    """The rows that a restore needs, by key: sessions with an open window, and pages."""
    for mark, _ in states.scan_prefix(_OPEN):
        key = mark.removeprefix(_OPEN)
        session = states.get(key)
        if session is not None:
            yield key, session
    yield from states.scan_prefix(PAGES)
