"""Headers that mark a record of the dead-letter topic as a dead letter or as a resolution. Pure."""

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
"""Header with a model's answer that could not be parsed."""

_RESOLVED_OFFSET: Final = "varve-settles"
_OUTCOME: Final = "varve-settled"
_RESOLVED_AT: Final = "varve-settled-time"

Headers = Iterable[tuple[str, bytes]]
Outcome = Literal["redriven", "superseded", "purged"]


@dataclass(frozen=True, slots=True)
class Resolution:
    """Outcome of a dead letter: a later record in the same partition, so that retention keeps it at least as long as the letter."""

    offset: int
    """The letter's offset, in the same partition of the dead-letter topic."""
    outcome: Outcome
    time: datetime


def read_metadata(headers: Headers) -> DeadLetter | None:
    """The metadata in the headers of a dead letter; None for any other record."""
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
    """The headers of the redriven record, with the record's original identity."""
    own = without_metadata(headers)
    if origin_of(own) is not None:
        return own
    return (*own, (ORIGIN, str(LogPosition(metadata.topic, metadata.partition, metadata.offset)).encode()))


def tenant_of(key: bytes | None, value: bytes | None) -> str | None:
    """The tenant of a record, from its value or else from its key; None if neither contains it."""
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
    """The resolution that :func:`resolution_headers` wrote; None for any other record."""
    fields = {name: value.decode("utf-8", "replace") for name, value in headers}
    try:
        outcome = fields[_OUTCOME]
        if outcome not in get_args(Outcome):
            return None
        return Resolution(int(fields[_RESOLVED_OFFSET]), cast(Outcome, outcome), datetime.fromisoformat(fields[_RESOLVED_AT]))
    except (KeyError, ValueError):
        return None
