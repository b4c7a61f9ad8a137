"""Records of the dead-letter topic: headers of letters and resolutions, contents in parts, and the record that a redrive produces. Pure.

The content is compressed, in parts directly after the letter. It is a Kafka record batch, so it contains its length and checksum. The parts
follow their letter in its partition: retention deletes from the beginning, so they are kept as long as the letter, independently of the
source's topic.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, cast, get_args

import orjson
from aiokafka.errors import CorruptRecordException
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords

from memory.errors import RecordError
from memory.headers import ORIGIN, PLACE, origin_of, place_of
from memory.keys import decode_key
from memory.positions import LogPosition
from memory.records import DeadLetterMetadata
from runtime.errors import DeadLetterMissingError
from runtime.kafka import OutgoingRecord
from runtime.seals import BAD_SIGNATURE, FORGED_HEADER, UNSIGNED, Basis, Keyring, without_reserved

PREFIX: Final = "varve-dlq-"
ANSWER: Final = "varve-dlq-answer"
"""Header with a model's answer that could not be parsed."""

_RESOLVED_OFFSET: Final = "varve-settles"
_OUTCOME: Final = "varve-settled"
_RESOLVED_AT: Final = "varve-settled-time"

Headers = Iterable[tuple[str, bytes]]
Outcome = Literal["redriven", "superseded", "purged"]

PARTS: Final = f"{PREFIX}parts"
"""Header of a letter: the number of parts that follow it."""
SIZE: Final = f"{PREFIX}size"
"""Header of a letter in parts: the size of its value, in bytes."""
TENANT: Final = f"{PREFIX}tenant"
"""Header of a letter in parts: the record's tenant, if known."""
PART_OF: Final = f"{PREFIX}part-of"
"""Header of a part: the letter's name, as :func:`dead_letter_name` gives it."""

_GZIP: Final = 1


@dataclass(frozen=True, slots=True)
class Resolution:
    """Outcome of a dead letter: a later record in the same partition, so that retention keeps it at least as long as the letter."""

    offset: int
    """The letter's offset, in the same partition of the dead-letter topic."""
    outcome: Outcome
    time: datetime


def read_metadata(headers: Headers) -> DeadLetterMetadata | None:
    """The metadata in the headers of a dead letter; None for any other record."""
    fields = {name.removeprefix(PREFIX): value.decode("utf-8", "replace") for name, value in headers if name.startswith(PREFIX)}
    try:
        return DeadLetterMetadata(
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


def headers_to_redrive(headers: Headers, metadata: DeadLetterMetadata) -> tuple[tuple[str, bytes], ...]:
    """The headers of the redriven record, with the record's original identity."""
    sent = without_metadata(headers)
    # The redriven record is a new one: it does not count under the place of a copied record.
    own = tuple(each for each in sent if each[0] != PLACE)
    if origin_of(own) is not None:
        return own
    first = place_of(sent) or LogPosition(metadata.topic, metadata.partition, metadata.offset)
    return (*own, (ORIGIN, str(first).encode()))


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


@dataclass(frozen=True, slots=True)
class Content:
    """Content of the source's record."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]


def dead_letter_name(metadata: DeadLetterMetadata) -> str:
    """Unique name of a letter, used in its parts."""
    return f"{metadata.topic}/{metadata.partition}/{metadata.offset} {metadata.stage} {metadata.last_time.isoformat()}"


def pack(content: Content, *, part_bytes: int) -> Iterator[bytes]:
    """The compressed content, in parts of at most ``part_bytes`` bytes."""
    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=_GZIP, is_transactional=0, producer_id=-1, producer_epoch=-1, base_sequence=0, batch_size=0
    )
    builder.append(0, timestamp=0, key=content.key, value=content.value, headers=list(content.headers))
    packed = bytes(builder.build())
    for start in range(0, len(packed), part_bytes):
        yield packed[start : start + part_bytes]


def unpack(parts: list[bytes]) -> Content:
    """Joins and decompresses parts.

    Raises:
        DeadLetterMissingError: If :func:`pack` did not produce them, or they are damaged.
    """
    try:
        batch = MemoryRecords(b"".join(parts)).next_batch()
        if batch is not None and batch.validate_crc():
            (record,) = batch
            return Content(record.key, record.value, tuple(record.headers))
    except (CorruptRecordException, ValueError) as error:
        raise DeadLetterMissingError(f"the parts of the dead letter cannot be read: {error!r}; purge it") from error
    raise DeadLetterMissingError("the parts of the dead letter are damaged; purge it")


def part_count(headers: Headers) -> int:
    """Number of parts that follow a letter; 0 if the letter contains its content."""
    return _number_in(headers, PARTS)


def part_of(headers: Headers) -> str | None:
    """The name of the letter that a record is a part of; None for any other record."""
    return text_in(headers, PART_OF)


def written_size(headers: Headers) -> int:
    """Size of the value of a letter in parts, in bytes."""
    return _number_in(headers, SIZE)


def written_tenant(headers: Headers) -> str | None:
    """The tenant of a letter in parts, if known."""
    return text_in(headers, TENANT)


def text_in(headers: Headers, header: str) -> str | None:
    """The text of the first header with a name; None if there is none."""
    return next((value.decode("utf-8", "replace") for name, value in headers if name == header), None)


def _number_in(headers: Headers, header: str) -> int:
    return next((int(value) for name, value in headers if name == header and value.isdigit()), 0)


_NOT_PROVEN: Final = frozenset({UNSIGNED, BAD_SIGNATURE, FORGED_HEADER})


def redriven_record(
    content: Content, source: DeadLetterMetadata, *, keyring: Keyring | None, now: datetime, is_vouched: bool = False
) -> OutgoingRecord:
    """The record to redrive a letter, with the record's original identity.

    A redrive does not prove the record's origin: reserved headers without a valid seal are removed, and a message still needs a signature.

    Args:
        content: The content of the source's record.
        source: The position of the source's record, and the reason of its failure.
        keyring: Seals the record. None: its topic has no seals, or there is no master secret.
        now: The current time.
        is_vouched: An operator confirms that the record is its tenant's: its seal is valid at any age, and a message needs no signature.
    """
    record = OutgoingRecord(source.topic, content.key, content.value, content.headers, source.partition)
    if keyring is None:
        return replace(record, headers=headers_to_redrive(record.headers, source))
    seal = None
    if is_vouched or source.reason != FORGED_HEADER:
        seal = keyring.read_seal(key=content.key, value=content.value, headers=content.headers, partition=source.partition)
    if seal is None:
        record = replace(record, headers=without_reserved(record.headers))
        # A rejected signature, for example an expired one, must not become valid by a redrive.
        basis: Basis = "unproven" if source.reason in _NOT_PROVEN else "redriven"
    else:
        basis = seal.basis
    if is_vouched:
        basis = "own"
    record = replace(record, headers=headers_to_redrive(record.headers, source))
    return keyring.sealed(record, now_ms=int(now.timestamp() * 1000), basis=basis)
