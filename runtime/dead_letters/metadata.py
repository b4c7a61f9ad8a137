"""The headers that make a record of the dead-letter topic a dead letter, or the resolution of one. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, cast, get_args

import orjson

from memory.errors import RecordError
from memory.headers import ORIGIN, origin_of
from memory.keys import decode_key
from memory.positions import LogPosition
from memory.records import DeadLetter

PREFIX: Final = "varve-dlq-"
ANSWER: Final = "varve-dlq-answer"
"""Header with a model's answer that nothing could be made of."""

_RESOLVED_OFFSET: Final = "varve-settles"
_OUTCOME: Final = "varve-settled"
_RESOLVED_AT: Final = "varve-settled-time"

Headers = Iterable[tuple[str, bytes]]
Outcome = Literal["redriven", "superseded", "purged"]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of a dead letter: a record behind it in its partition, so that it is kept as long as the letter, and a little longer."""

    offset: int
    """The letter's, in the same partition of the dead-letter topic."""
    outcome: Outcome
    time: datetime


def read_metadata(headers: Headers) -> DeadLetter | None:
    """What the headers of a dead letter say; None where they are not a dead letter's."""
    fields = {name.removeprefix(PREFIX): value.decode("utf-8", "replace") for name, value in headers if name.startswith(PREFIX)}
    try:
        return DeadLetter(
            topic=fields["topic"],
            partition=int(fields["partition"]),
            offset=int(fields["offset"]),
            stage=fields["stage"],
            reason=fields["reason"],
            detail=fields["detail"],
            tries=int(fields["tries"]),
            first_time=datetime.fromisoformat(fields["first-time"]),
            last_time=datetime.fromisoformat(fields["last-time"]),
        )
    except (KeyError, ValueError):
        return None


def without_metadata(headers: Headers) -> tuple[tuple[str, bytes], ...]:
    """The headers as the source's producer wrote them."""
    return tuple((name, value) for name, value in headers if not name.startswith(PREFIX))


def headers_to_redrive(headers: Headers, metadata: DeadLetter) -> tuple[tuple[str, bytes], ...]:
    """The headers under which the record goes to its stage again, with the identity it had at first."""
    own = without_metadata(headers)
    if origin_of(own) is not None:
        return own
    return (*own, (ORIGIN, str(LogPosition(metadata.topic, metadata.partition, metadata.offset)).encode()))


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


def resolution_headers(resolution: Resolution) -> tuple[tuple[str, bytes], ...]:
    """The headers of a resolution's record."""
    return (
        (_RESOLVED_OFFSET, str(resolution.offset).encode()),
        (_OUTCOME, resolution.outcome.encode()),
        (_RESOLVED_AT, resolution.time.isoformat().encode()),
    )


def read_resolution(headers: Headers) -> Resolution | None:
    """The resolution that :func:`resolution_headers` wrote; None where the headers are not a resolution's."""
    fields = {name: value.decode("utf-8", "replace") for name, value in headers}
    try:
        outcome = fields[_OUTCOME]
        if outcome not in get_args(Outcome):
            return None
        return Resolution(int(fields[_RESOLVED_OFFSET]), cast(Outcome, outcome), datetime.fromisoformat(fields[_RESOLVED_AT]))
    except (KeyError, ValueError):
        return None
