"""Record headers that several packages use."""

from collections.abc import Iterable
from typing import Final

from memory.errors import PositionFormatError
from memory.positions import LogPosition

KIND: Final = "varve-kind"
"""Header with the kind of a record, for records that are not their topic's usual kind."""

COMMAND: Final = b"command"
"""A :class:`memory.records.SessionCommand` in the messages log."""

GENERATION_DROP: Final = b"generation-drop"
"""A :class:`memory.records.GenerationDrop` in the extractions log."""

TICK: Final = b"tick"
"""A :class:`memory.records.Contribution` of kind ``tick`` in the extractions log."""

TOUCHES: Final = b"touches"
"""A :class:`memory.records.Touches` in the extractions log."""

EXPIRY: Final = b"expiry"
"""A :class:`memory.records.Expiry` in the extractions log."""

EVOLUTION: Final = b"evolution"
"""A :class:`memory.records.Evolution` in the extractions log."""

FEEDBACK: Final = b"feedback"
"""A :class:`memory.records.FeedbackRecord` among the recalls."""

RETRACTION: Final = b"retraction"
"""A :class:`memory.records.MessageRetraction` in the extractions log."""

CORRECTION: Final = b"correction"
"""A :class:`memory.records.Correction` in the extractions log."""

ERASURE: Final = b"erasure"
"""A :class:`memory.records.ErasureCommand` in the extractions log, and among the recalls."""

RETENTION: Final = b"retention"
"""A :class:`memory.records.RetentionLimits` in the extractions log."""

TRUST: Final = b"trust"
"""A :class:`memory.records.TrustRules` in the extractions log."""

TRUST_REVIEW: Final = b"trust-review"
"""A :class:`memory.records.TrustReview` in the extractions log."""

ORIGIN: Final = "varve-origin"
"""Header of a forwarded or redriven record: its original position, ``topic/partition/offset``. It is the record's identity."""

PLACE: Final = "varve-place"
"""Header of a record that growth has copied from an earlier set of topics: its position there, ``topic/partition/offset``."""


def kind_of(headers: Iterable[tuple[str, bytes]]) -> bytes | None:
    """The kind of a record; None if it is its topic's usual one."""
    return next((value for name, value in headers if name == KIND), None)


def place_of(headers: Iterable[tuple[str, bytes]]) -> LogPosition | None:
    """The position of a copied record in the earlier set of topics; None for other records and invalid headers."""
    return _position_in(headers, PLACE)


def origin_of(headers: Iterable[tuple[str, bytes]]) -> LogPosition | None:
    """The original position of a forwarded or redriven record; None for other records and invalid headers."""
    return _position_in(headers, ORIGIN)


def _position_in(headers: Iterable[tuple[str, bytes]], header: str) -> LogPosition | None:
    written = [value for name, value in headers if name == header and value]
    try:
        return LogPosition.parse(written[-1].decode()) if written else None
    except (PositionFormatError, UnicodeDecodeError):
        return None
