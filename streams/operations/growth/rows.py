"""Assignment of the rows of a stage's table to new partitions, and the changes that a row needs there. Pure."""

import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

import orjson

from memory.keys import decode_key, encode_key
from operators.applied_positions import COPIED, grown_sources, source_without_copy
from operators.entities.entity_state import from_bytes, to_bytes
from streams.stages.entities.codec import EntityCodec, TimerRow
from streams.stages.sessions.closed_windows import WindowOfUser
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.partition_rows import CLOCK_KEY, LogTime

TABLES: Final = ("sessions", "events", "entities", "recalls")
"""The stages whose rows are copied. The other tables hold only parked records, which count as unread."""

FindRow = Callable[[bytes], bytes | None]
"""Returns the payload of the first row whose key begins with a prefix."""

_SESSION_PREFIXES: Final = (b"#open/", b"#page/", b"#window/", b"#places/")
_OF_USER: Final = b"#of/"
_TIMER: Final = b"timer "
_LEVEL: Final = 1


def home_of(stage: str, key: bytes, payload: bytes, find: FindRow) -> bytes | None:
    """The key of the stage's source records to which a row belongs; it determines the row's partition.

    Args:
        stage: One of :data:`TABLES`.
        key: The row's key.
        payload: The row, without its offset.
        find: Finds rows of the same partition.

    Returns:
        The key; None if the row belongs to all partitions.
    """
    return _HOMES[stage](key, payload, find)


def _session(key: bytes, payload: bytes, find: FindRow) -> bytes | None:
    if key == CLOCK_KEY:
        return None
    if key.startswith(_OF_USER):
        row = SessionCodec().decode(payload)
        assert isinstance(row, WindowOfUser)
        return row.session_key
    for prefix in _SESSION_PREFIXES:
        if key.startswith(prefix):
            # The key of a session is percent-encoded and contains no "#".
            return key.removeprefix(prefix).partition(b"#")[0]
    return key


def _ledger(key: bytes, payload: bytes, find: FindRow) -> bytes | None:
    kind, fields = orjson.loads(zlib.decompress(payload))
    match kind:
        case "PublishedWindow":
            return _user_of(fields)
        case "DroppedGeneration" | "RetainedSince":
            return None
        case "CorrectedEntity":
            standing = fields.get("standing") or [{}]
            user = standing[0].get("user")
            return None if user is None else encode_key(standing[0]["tenant"], user)
    parts = decode_key(key)
    if kind == "WindowsSinceErasure":
        return encode_key(*parts[1:])
    window = parts[1] if kind == "ExpiredEvents" else parts[2]
    published = find(encode_key(window) + b"/")
    # A window that was edited before it was extracted: the row has only ids, and its partition is not known.
    return None if published is None else _user_of(orjson.loads(zlib.decompress(published))[1])


def _user_of(published: dict[str, Any]) -> bytes:
    extraction = published["extraction"]
    return encode_key(extraction["tenant"], extraction["user"])


def _entity(key: bytes, payload: bytes, find: FindRow) -> bytes | None:
    if payload.startswith(_TIMER):
        row = EntityCodec().decode(payload)
        assert isinstance(row, TimerRow)
        return encode_key(row.tick.tenant, row.tick.entity_type, row.tick.entity_key)
    return encode_key(*decode_key(key)[:3])


def _recalls(key: bytes, payload: bytes, find: FindRow) -> bytes | None:
    return encode_key(*decode_key(key)[:2])


_HOMES: Final[dict[str, Callable[[bytes, bytes, FindRow], bytes | None]]] = {
    "sessions": _session,
    "events": _ledger,
    "entities": _entity,
    "recalls": _recalls,
}


def grown_row(stage: str, payload: bytes, partition: int) -> bytes:
    """A row in its new partition.

    An entity's positions were applied before the growth; a published window's contributions come from the window's copy, so that a replay
    or a rebuild finds them under the same source.

    Args:
        stage: One of :data:`TABLES`.
        payload: The row, without its offset.
        partition: The new partition.
    """
    if stage == "entities" and not payload.startswith(_TIMER):
        state = from_bytes(payload)
        return to_bytes(replace(state, sources=grown_sources(state.sources), erasures=grown_sources(state.erasures)))
    if stage == "events":
        kind, fields = orjson.loads(zlib.decompress(payload))
        if kind == "PublishedWindow":
            lists = (fields["contributions"], *fields["corrections"], fields["former"])
        elif kind == "CorrectedEntity":
            lists = (fields.get("standing", []),)
        else:
            return payload
        for contributions in lists:
            for contribution in contributions:
                contribution["source"] = f"{source_without_copy(contribution['source'])}{COPIED}{partition}"
        return zlib.compress(orjson.dumps([kind, fields]), _LEVEL)
    return payload


def joined_clock(payloads: Iterable[bytes]) -> bytes | None:
    """The clock of a partition that receives sessions of several ones: for no session does it go back. None: there is no clock."""
    codec = SessionCodec()
    clocks = [row for row in map(codec.decode, payloads) if isinstance(row, LogTime)]
    if not clocks:
        return None
    newest = [each.newest_ms for each in clocks if each.newest_ms is not None]
    return codec.encode(LogTime(max(each.minute for each in clocks), max(newest, default=None)))
