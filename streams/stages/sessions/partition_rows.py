"""Rows of the sessions stage that belong to a partition as a whole: marks of the sessions with an open window, and the log's time.

A session's row is kept forever, and a restore must not read those without an open window: the marks name the others. The keys of all rows
that are no session's begin with ``#``; a session's key is percent-encoded and contains none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from streams.engine.state.partition_state import PartitionState
from streams.stages.sessions.known_ids import PAGES

CLOCK_KEY: Final = b"#clock"
"""Key of the partition's time."""

_OPEN: Final = b"#open/"


def mark_key(session_key: bytes) -> bytes:
    """The key of the mark of a session's open window."""
    return _OPEN + session_key


@dataclass(frozen=True, slots=True)
class OpenWindowMark:
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
