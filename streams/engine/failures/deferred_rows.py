"""Parked records as rows of a partition's table, sorted by tenant and offset, and a row with the number of each tenant's records."""

import struct
from collections.abc import Iterator
from typing import Final, cast
from urllib.parse import quote, unquote

from runtime.kafka import TopicPartition
from runtime.tracing import Headers
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import RowStore, StateChange, pack, unpack

_RECORD: Final = b"r/"
_COUNT: Final = b"n/"
_END: Final = b"\x00"
"""Ends a tenant's name, so that no other name has it as a prefix: an encoded name has no zero byte."""
_OFFSET: Final = struct.Struct(">Q")
_TIMESTAMP: Final = struct.Struct(">d")
_LENGTH: Final = struct.Struct(">i")
_NONE: Final = -1
_NO_POSITION: Final = 0
"""Counts have no order: they go up and down, and only transactions write their rows."""


def record_key(tenant: str, offset: int) -> bytes:
    """The key of a record's row: a tenant's rows are sorted by offset."""
    return _prefix(tenant) + _OFFSET.pack(offset)


def record_row(tenant: str, record: ConsumedRecord) -> StateChange:
    """The row of a record, with everything the log has of it."""
    parts: list[bytes] = [_TIMESTAMP.pack(record.timestamp)]
    header_parts = [part for name, value in record.headers for part in (name.encode(), value)]
    for part in (record.key, record.value, *header_parts):
        parts += [_LENGTH.pack(_NONE if part is None else len(part)), part or b""]
    return StateChange(record_key(tenant, record.offset), pack(record.offset, b"".join(parts)))


def read_record(rows: RowStore, source: TopicPartition, tenant: str, offset: int) -> ConsumedRecord | None:
    """A parked record, as it was in the log. None: it is not parked."""
    value = rows.read(record_key(tenant, offset))
    return None if value is None else _decoded(source, value)


def records_from(rows: RowStore, source: TopicPartition, tenant: str, offset: int) -> Iterator[ConsumedRecord]:
    """A tenant's parked records from an offset on, in log order."""
    prefix = _prefix(tenant)
    for key, value in rows.scan_from(record_key(tenant, offset)):
        if not key.startswith(prefix):
            return
        yield _decoded(source, value)


def parked_record(source: TopicPartition, key: bytes, value: bytes) -> ConsumedRecord | None:
    """The parked record of a row; None: it is another row.

    Args:
        source: The partition that the record is from.
        key: The row's key.
        value: The row's value.
    """
    return _decoded(source, value) if key.startswith(_RECORD) else None


def count_row(tenant: str, count: int) -> StateChange:
    """The row with the number of a tenant's parked records."""
    return StateChange(_COUNT + _name(tenant), pack(_NO_POSITION, b"%d" % count) if count else None)


def counts(rows: RowStore) -> dict[str, int]:
    """Number of parked records of each tenant."""
    counted: dict[str, int] = {}
    for key, value in rows.scan_from(_COUNT):
        if not key.startswith(_COUNT):
            break
        counted[unquote(key.removeprefix(_COUNT).decode())] = int(unpack(value)[1])
    return counted


def _prefix(tenant: str) -> bytes:
    return _RECORD + _name(tenant) + _END


def _name(tenant: str) -> bytes:
    """A tenant's name in a row's key; empty for records whose key names no tenant."""
    return quote(tenant, safe="").encode()


def _decoded(source: TopicPartition, value: bytes) -> ConsumedRecord:
    offset, payload = unpack(value)
    (timestamp,) = _TIMESTAMP.unpack_from(payload)
    key, content, *headers = _parts(payload, _TIMESTAMP.size)
    names = ((name or b"").decode() for name in headers[::2])
    pairs = cast(Headers, tuple(zip(names, headers[1::2], strict=True)))
    return ConsumedRecord(source.topic, source.partition, offset, key, content, pairs, timestamp)


def _parts(payload: bytes, at: int) -> Iterator[bytes | None]:
    while at < len(payload):
        (length,) = _LENGTH.unpack_from(payload, at)
        at += _LENGTH.size
        yield None if length == _NONE else payload[at : at + length]
        at += max(0, length)
