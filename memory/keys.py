"""Kafka keys: the one place where they are built, read and mapped to a partition.

A key is its parts, each percent-encoded as UTF-8, joined by ``/``: ``acme/session-1``. Any producer in any language can write it,
no part can forge a separator, and two different lists of parts never give the same bytes.

In a topic whose records are erased one by one, a mark follows: ``acme/ann#6b1f``. It tells records of one key apart, so that compaction
keeps all of them until a tombstone names one. It is no part: records that differ by it alone lie in one partition, in their log's order.
"""

import uuid
from functools import lru_cache
from typing import Final
from unicodedata import normalize
from urllib.parse import quote, unquote

from memory.errors import KeyFormatError

_SEPARATOR: Final = "/"
_MARK: Final = b"#"

_INEXACT: Final = 2.0**53
"""From here on a float stands for several integers."""

LONGEST_KEY_PART: Final = 256
"""Of a part of an entity's key, in characters."""


@lru_cache(maxsize=65_536)
def encode_key(*parts: str) -> bytes:
    """As :func:`join_parts`, for keys that come again: those of sessions, users and entities."""
    return join_parts(*parts)


def join_parts(*parts: str) -> bytes:
    """Builds the bytes of a key from its parts; :func:`encode_key` remembers them.

    Args:
        *parts: At least one non-empty text, for example the tenant and the session.

    Raises:
        KeyFormatError: If there is no part, or an empty one, or one that UTF-8 cannot carry.
    """
    if not parts or not all(parts):
        raise KeyFormatError(f"a key needs at least one part and no empty one, got {parts!r}")
    try:
        return _SEPARATOR.join(quote(part, safe="") for part in parts).encode("ascii")
    except UnicodeEncodeError as error:
        raise KeyFormatError(f"a key's parts must be valid Unicode, got {parts!r}") from error


def marked_key(key: bytes, mark: str) -> bytes:
    """A key with a mark, which tells its record from others of the same parts.

    Args:
        key: As :func:`encode_key` builds it.
        mark: Not empty.

    Raises:
        KeyFormatError: If the mark is empty, or UTF-8 cannot carry it.
    """
    return key + _MARK + join_parts(mark)


def distinct_key(*parts: str) -> bytes:
    """The key of a record like no other: :func:`encode_key` of its parts, with a random mark.

    Raises:
        KeyFormatError: As :func:`encode_key`.
    """
    return remarked_key(encode_key(*parts))


def remarked_key(key: bytes) -> bytes:
    """A key with a random mark in place of the one that it may have."""
    return marked_key(unmarked_key(key), uuid.uuid4().hex)


def unmarked_key(key: bytes) -> bytes:
    """A key without its mark: what places its record, and what it is handled in order with. A key without one is given back."""
    return key.partition(_MARK)[0]


def decode_key(key: bytes) -> tuple[str, ...]:
    """Reads the parts back from the bytes that :func:`encode_key` built; a mark is passed over.

    Raises:
        KeyFormatError: If the bytes are not such a key.
    """
    placing = unmarked_key(key)
    try:
        parts = tuple(unquote(part, errors="strict") for part in placing.decode("ascii").split(_SEPARATOR))
        if join_parts(*parts) == placing:
            return parts
    except (UnicodeDecodeError, KeyFormatError):
        pass
    raise KeyFormatError(f"the key {key[:80]!r} is not percent-encoded parts joined by '/'")


def entity_key(*parts: str) -> str:
    """The ``GROUP BY`` key of an entity, as records carry it: :func:`encode_key` of its parts, in the order of the entity type's keys.

    Raises:
        KeyFormatError: If there is no part, or an empty one, or one that UTF-8 cannot carry.
    """
    return encode_key(*parts).decode("ascii")


def key_part(value: object) -> str | None:
    """A property's value as a part of an entity's key.

    White space is normalised, so that a line break makes no second entity, and so is how Unicode spells a letter with its marks (NFC). A
    number is one part, whether its event type calls it int64 or float32.

    Returns:
        None where the value can be no part: blank, too long, or neither text nor number nor truth value. A part is never cut, since a
        cut one would name another entity.
    """
    if isinstance(value, str):
        value = normalize("NFC", value)
    elif isinstance(value, float) and value.is_integer() and abs(value) < _INEXACT:
        value = int(value)
    return spelled_key_part(value)


def spelled_key_part(value: object) -> str | None:
    """The same with letters and numbers as they are spelled: what entities of before bear until they are rebuilt."""
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
    """The partition of a key: murmur2, as Kafka's Java client and aiokafka place it. A mark does not count.

    Args:
        key: The bytes of the key.
        partitions: How many partitions the topic has, at least 1.
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
