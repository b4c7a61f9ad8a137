"""Kafka keys: building, parsing, and mapping to partitions.

A key is its parts, each percent-encoded as UTF-8, joined by ``/``: ``acme/session-1``. Any producer in any language can write it,
no part can forge a separator, and two different lists of parts never give the same bytes.

In topics whose records are erased individually, a mark follows: ``acme/ann#6b1f``. It makes keys unique, so that compaction keeps every
record until a tombstone with its key. The mark does not count for the partition: records that differ only in the mark share a partition.
"""

import uuid
from functools import lru_cache
from typing import Final
from unicodedata import normalize
from urllib.parse import quote, unquote

from memory.errors import KeyFormatError

_SEPARATOR: Final = "/"
_MARK: Final = b"#"
PADDING: Final = _MARK
"""Key of a record without content. Growth writes such records so that later offsets are above all earlier ones. No other key equals it."""

_INEXACT: Final = 2.0**53
"""From this value on, a float represents several integers."""

LONGEST_KEY_PART: Final = 256
"""Limit for a part of an entity's key, in characters."""


@lru_cache(maxsize=65_536)
def encode_key(*parts: str) -> bytes:
    """Cached :func:`join_parts`, for repeated keys: of sessions, users and entities."""
    return join_parts(*parts)


def join_parts(*parts: str) -> bytes:
    """Builds the bytes of a key from its parts; :func:`encode_key` caches them.

    Raises:
        KeyFormatError: If there is no part, or an empty one, or one that UTF-8 cannot encode.
    """
    if not parts or not all(parts):
        raise KeyFormatError(f"a key needs at least one part and no empty one, got {parts!r}")
    try:
        return _SEPARATOR.join(quote(part, safe="") for part in parts).encode("ascii")
    except UnicodeEncodeError as error:
        raise KeyFormatError(f"a key's parts must be valid Unicode, got {parts!r}") from error


def marked_key(key: bytes, mark: str) -> bytes:
    """A key with a mark, which distinguishes its record from others with the same parts.

    Args:
        key: A key from :func:`encode_key`.
        mark: The mark, not empty.

    Raises:
        KeyFormatError: If the mark is empty, or UTF-8 cannot encode it.
    """
    return key + _MARK + join_parts(mark)


def distinct_key(*parts: str) -> bytes:
    """A unique key: the parts with a random mark.

    Raises:
        KeyFormatError: See :func:`join_parts`.
    """
    return remarked_key(encode_key(*parts))


def remarked_key(key: bytes) -> bytes:
    """A key with a new random mark, which replaces an existing one."""
    return marked_key(unmarked_key(key), uuid.uuid4().hex)


def unmarked_key(key: bytes) -> bytes:
    """A key without its mark; it determines the partition and the processing order of its record."""
    return key.partition(_MARK)[0]


def decode_key(key: bytes) -> tuple[str, ...]:
    """Parses the parts of a key from :func:`encode_key`; ignores a mark.

    Raises:
        KeyFormatError: If the bytes are not such a key.
    """
    unmarked = unmarked_key(key)
    try:
        parts = tuple(unquote(part, errors="strict") for part in unmarked.decode("ascii").split(_SEPARATOR))
        if join_parts(*parts) == unmarked:
            return parts
    except (UnicodeDecodeError, KeyFormatError):
        pass
    shown = key[:80].decode("utf-8", "backslashreplace")
    raise KeyFormatError(
        f"the key {shown!r} is not percent-encoded parts joined by '/': write a space as %20, and a '/' within a part as %2F"
    )


def parts_of_key(key: bytes | None) -> tuple[str, ...]:
    """The parts of a record's key; none if the record has no key, or its producer used another format."""
    try:
        return decode_key(key or b"")
    except KeyFormatError:
        return ()


def tenant_of_key(key: bytes | None) -> str:
    """The tenant at the beginning of a record's key; empty if :func:`parts_of_key` finds none."""
    return next(iter(parts_of_key(key)), "")


def entity_key(*parts: str) -> str:
    """The ``GROUP BY`` key of an entity in records: :func:`encode_key` of its parts, in the order of the entity type's keys.

    Raises:
        KeyFormatError: See :func:`join_parts`.
    """
    return encode_key(*parts).decode("ascii")


def key_part(value: object) -> str | None:
    """A property's value as a part of an entity's key.

    White space and Unicode composition (NFC) are normalized, so that different spellings give the same entity. Equal numbers give equal
    parts for int64 and float32.

    Returns:
        The part; None if the value is blank, too long, or neither text nor number nor boolean. Parts are never truncated, because a
        truncated part could name another entity.
    """
    if isinstance(value, str):
        value = normalize("NFC", value)
    elif isinstance(value, float) and value.is_integer() and abs(value) < _INEXACT:
        value = int(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        return None
    part = " ".join(str(value).split())
    return part if 0 < len(part) <= LONGEST_KEY_PART else None


@lru_cache(maxsize=65_536)
def entity_key_parts(key: str) -> tuple[str, ...]:
    """The parts of an entity's key.

    Raises:
        KeyFormatError: If the text is not such a key.
    """
    try:
        return decode_key(key.encode("ascii"))
    except UnicodeEncodeError as error:
        raise KeyFormatError(f"the entity key {key[:80]!r} is not percent-encoded") from error


def partition_of(key: bytes, partitions: int) -> int:
    """The partition of a key without its mark, by murmur2 as in Kafka's Java client and aiokafka.

    Args:
        key: The key.
        partitions: Number of partitions of the topic, at least 1.
    """
    return _placed(unmarked_key(key), partitions)


@lru_cache(maxsize=65_536)
def _placed(key: bytes, partitions: int) -> int:
    return (_murmur2(key) & 0x7FFFFFFF) % partitions


def _murmur2(data: bytes) -> int:
    """Kafka's ``Utils.murmur2`` (seed 0x9747b28c), as an unsigned 32-bit number."""
    length = len(data)
    mixed = (0x9747B28C ^ length) & 0xFFFFFFFF
    tail = length & ~3
    for start in range(0, tail, 4):
        word = int.from_bytes(data[start : start + 4], "little")
        word = (word * 0x5BD1E995) & 0xFFFFFFFF
        word ^= word >> 24
        word = (word * 0x5BD1E995) & 0xFFFFFFFF
        mixed = ((mixed * 0x5BD1E995) & 0xFFFFFFFF) ^ word
    if length & 3:
        mixed = ((mixed ^ int.from_bytes(data[tail:], "little")) * 0x5BD1E995) & 0xFFFFFFFF
    mixed ^= mixed >> 13
    mixed = (mixed * 0x5BD1E995) & 0xFFFFFFFF
    return mixed ^ (mixed >> 15)
