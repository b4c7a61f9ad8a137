"""The content of a dead letter that is too large for one record: compressed, in parts right behind the letter. Pure.

The content is one of Kafka's own record batches, so it bears its length and checksum. The parts lie behind their letter in its partition:
retention removes from the beginning, so that they are kept as long as the letter, whatever becomes of the source's topic.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from aiokafka.errors import CorruptRecordException
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords

from memory.records import DeadLetter
from runtime.dead_letters.metadata import PREFIX, Headers
from runtime.errors import DeadLetterMissingError

PARTS: Final = f"{PREFIX}parts"
"""Header of a letter: how many parts lie behind it."""
SIZE: Final = f"{PREFIX}size"
"""Header of such a letter: the bytes of the value in them."""
TENANT: Final = f"{PREFIX}tenant"
"""Header of such a letter: whose record it is, where that is known."""
PART_OF: Final = f"{PREFIX}part-of"
"""Header of a part: the letter's name, as :func:`letter_name` gives it."""

_GZIP: Final = 1


@dataclass(frozen=True, slots=True)
class Content:
    """What a source's record holds."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]


def letter_name(metadata: DeadLetter) -> str:
    """What a letter's parts call it: no two letters have the same."""
    return f"{metadata.topic}/{metadata.partition}/{metadata.offset} {metadata.stage} {metadata.last_time.isoformat()}"


def pack(content: Content, *, part_bytes: int) -> Iterator[bytes]:
    """The content, compressed, in parts of at most so many bytes."""
    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=_GZIP, is_transactional=0, producer_id=-1, producer_epoch=-1, base_sequence=0, batch_size=0
    )
    builder.append(0, timestamp=0, key=content.key, value=content.value, headers=list(content.headers))
    packed = bytes(builder.build())
    for start in range(0, len(packed), part_bytes):
        yield packed[start : start + part_bytes]


def unpack(parts: list[bytes]) -> Content:
    """The content of all parts, in their order.

    Raises:
        DeadLetterMissingError: If they are not what :func:`pack` gave.
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
    """How many parts lie behind a letter; 0 where it holds its content itself."""
    return next((int(value) for name, value in headers if name == PARTS and value.isdigit()), 0)


def part_of(headers: Headers) -> str | None:
    """The name of the letter that a record is a part of; None for any other record."""
    return next((value.decode("utf-8", "replace") for name, value in headers if name == PART_OF), None)


def written_size(headers: Headers) -> int:
    """The bytes of the value of a letter in parts."""
    return next((int(value) for name, value in headers if name == SIZE and value.isdigit()), 0)


def written_tenant(headers: Headers) -> str | None:
    """Whose record a letter in parts is, where that was known."""
    return next((value.decode("utf-8", "replace") for name, value in headers if name == TENANT), None)
