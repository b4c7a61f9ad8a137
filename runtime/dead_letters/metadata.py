"""The headers that make a record of the dead-letter topic a dead letter, or a note that one is settled. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, cast

import orjson

from memory.errors import RecordError
from memory.headers import ORIGIN
from memory.keys import decode_key
from memory.records import DeadLetter

PREFIX: Final = "varve-dlq-"
ANSWER: Final = "varve-dlq-answer"
"""Header with a model's answer that nothing could be made of."""

_SETTLES: Final = "varve-settles"
_HOW: Final = "varve-settled"
_WHEN: Final = "varve-settled-time"

Headers = Iterable[tuple[str, bytes]]
Settlement = Literal["redriven", "superseded", "purged"]


@dataclass(frozen=True, slots=True)
class Note:
    """A record behind a dead letter in its partition that says what became of it: kept as long as the letter, and a little longer."""

    offset: int
    """Of the letter, in the same partition of the dead-letter topic."""
    how: Settlement
    time: datetime


def read_metadata(headers: Headers) -> DeadLetter | None:
    """What the headers of a dead letter tell; None where they are not a dead letter's."""
    told = {name.removeprefix(PREFIX): value.decode("utf-8", "replace") for name, value in headers if name.startswith(PREFIX)}
    try:
        return DeadLetter(
            topic=told["topic"],
            partition=int(told["partition"]),
            offset=int(told["offset"]),
            stage=told["stage"],
            reason=told["reason"],
            detail=told["detail"],
            tries=int(told["tries"]),
            first_time=datetime.fromisoformat(told["first-time"]),
            last_time=datetime.fromisoformat(told["last-time"]),
        )
    except (KeyError, ValueError):
        return None


def without_metadata(headers: Headers) -> tuple[tuple[str, bytes], ...]:
    """The headers as the source's producer wrote them."""
    return tuple((name, value) for name, value in headers if not name.startswith(PREFIX))


def headers_to_redrive(headers: Headers, story: DeadLetter) -> list[tuple[str, bytes]]:
    """The headers under which the record goes to its stage again, with the identity it had at first."""
    kept = list(without_metadata(headers))
    if not any(name == ORIGIN for name, _ in kept):
        kept.append((ORIGIN, f"{story.topic}/{story.partition}/{story.offset}".encode()))
    return kept


def tenant_of(key: bytes | None, value: bytes | None) -> str | None:
    """Whose record it is, by its value where that can be read, else by its key; None where neither tells."""
    try:
        fields = orjson.loads(value or b"")
    except orjson.JSONDecodeError:
        fields = None
    if isinstance(fields, dict) and isinstance(fields.get("tenant"), str):
        return cast(str, fields["tenant"])
    try:
        return decode_key(key or b"")[0]
    except RecordError:
        return None


def note_headers(note: Note) -> list[tuple[str, bytes]]:
    """The headers of a note."""
    return [(_SETTLES, str(note.offset).encode()), (_HOW, note.how.encode()), (_WHEN, note.time.isoformat().encode())]


def read_note(headers: Headers) -> Note | None:
    """The note that :func:`note_headers` wrote; None where the headers are not a note's."""
    told = {name: value.decode("utf-8", "replace") for name, value in headers}
    try:
        if told[_HOW] not in ("redriven", "superseded", "purged"):
            return None
        return Note(int(told[_SETTLES]), cast(Settlement, told[_HOW]), datetime.fromisoformat(told[_WHEN]))
    except (KeyError, ValueError):
        return None
