"""A memory as both engines store it: its payload, its id, and the checks before an upsert.

The payload holds the whole record as JSON text, and the fields that filters use. An engine's own JSON would change some values (integers
beyond 64 bits become floats), and a text is the cheapest field to read.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import Any, Final

import numpy as np

from memory.dates.event_date import last_moment
from memory.records import Memory
from memory.records.wording import further_indexed_text, indexed_text
from models.embedding.port import Embedding, Vector
from runtime.sized_cache import SizedCache
from stores.collection import (
    DELETED_AT,
    ENTITY_KEYS,
    EVENT_TIME,
    EXPIRES_AT,
    GENERATION,
    KIND,
    MESSAGES,
    OWNER,
    PARENT,
    RECORD,
    SESSION,
    STEP_OF,
    STEP_TENANT,
    TENANT,
    TRUST,
    TYPE,
)
from stores.errors import StoreRejectedError
from stores.filters import iso_time, keys_of, owner_of, parent_of
from stores.lexical_analysis import Terms, document_terms, searched_text
from stores.port import Point, StepPoint
from stores.position import FeedPosition

MAX_LATE_ROWS: Final = 1024
"""Most token vectors of a point. Both engines refuse multivectors of more than about a million numbers. The embedded model has at most
254."""

_CACHED_BYTES: Final = 104_000_000
"""10,000 memories of one sentence, with the traits that recalls keep of them (:mod:`retrieval.relevance.traits`). Every recall reads dozens
of candidates, mostly of few users, and parsing and checking one costs as much as scoring it."""
_ENTRY_BYTES: Final = 4500
"""Measured size of a memory without a text."""
_BYTES_PER_RECORD_BYTE: Final = 2
_BYTES_PER_TEXT_BYTE: Final = 66
"""Measured size that each byte of the text adds to the traits, for a text of which no word repeats."""


def payload_of(point: Point) -> dict[str, Any]:
    """The payload that is stored with the vectors."""
    memory = point.memory
    fields = {
        TENANT: memory.tenant,
        OWNER: memory.user and owner_of(memory.tenant, memory.user, of_entity=memory.kind == "entity"),
        KIND: memory.kind,
        TYPE: memory.type,
        SESSION: memory.session,
        ENTITY_KEYS: keys_of(memory) or None,
        MESSAGES: None if memory.kind == "entity" else memory.message_ids,
        PARENT: parent_of(memory),
        EVENT_TIME: _moments(memory),
        EXPIRES_AT: memory.expires_at and iso_time(memory.expires_at),
        TRUST: memory.trust,
        GENERATION: memory.generation,
        RECORD: memory.to_json().decode(),
    }
    return {name: value for name, value in fields.items() if value is not None} | point.position.payload()


def _moments(memory: Memory) -> str | list[str]:
    first, last = memory.event_time, last_moment(memory.event_time, memory.date)
    return iso_time(first) if first == last else [iso_time(first), iso_time(last)]


def step_payload(point: StepPoint) -> dict[str, Any]:
    """The payload of a history step. Like a tombstone it has no tenant field; it has :data:`~stores.collection.STEP_TENANT`."""
    step = point.step
    return {STEP_TENANT: step.tenant, STEP_OF: step.entity, RECORD: step.to_json().decode(), **point.position.payload()}


def newest_steps(points: Sequence[StepPoint]) -> dict[str, StepPoint]:
    """The steps by id. Of several with one id, only the one with the newest position.

    Raises:
        StoreRejectedError: If an id is invalid for a point.
    """
    newest: dict[str, StepPoint] = {}
    for point in points:
        problem = _id_problem(point.step.id)
        if problem:
            raise StoreRejectedError(f"step {point.step.id!r} of tenant {point.step.tenant!r}: {problem}")
        other = newest.get(point.step.id)
        if other is None or not point.position.is_older_than(other.position):
            newest[point.step.id] = point
    return newest


def tombstone_payload(position: FeedPosition, now: datetime) -> dict[str, Any]:
    """The payload of a tombstone. It has no tenant, so no :class:`stores.filters.MemoryFilter` passes it."""
    return {DELETED_AT: iso_time(now), **position.payload()}


_memories: Final[SizedCache[str, Memory]] = SizedCache(max_bytes=_CACHED_BYTES)
_lock: Final = Lock()
"""Protects :data:`_memories`."""


def memory_of(record: str) -> Memory:
    """Reads a memory from the payload's record. Equal records share one object, which callers must not change."""
    with _lock:
        found = _memories.get(record)
    if found is None:
        found = Memory.from_json(record.encode())
        with _lock:
            _memories.put(record, found, size=_bytes_of(record, found))
    return found


def _bytes_of(record: str, memory: Memory) -> int:
    """The measured size of a cached memory: the record, the object, and its traits, which depend on the length of its text."""
    text = len(indexed_text(memory).encode()) + len((further_indexed_text(memory) or "").encode())
    return _ENTRY_BYTES + _BYTES_PER_RECORD_BYTE * len(record.encode()) + _BYTES_PER_TEXT_BYTE * text


def terms_of_memory(memory: Memory) -> Terms:
    """The terms of a memory's indexed text."""
    return document_terms(searched_text(indexed_text(memory), memory.keywords, further_indexed_text(memory)))


def check_points(points: Sequence[Point], *, dimension: int, late_dimension: int | None) -> None:
    """Refuses points that an engine would refuse half-way through a batch, after it wrote the first half.

    Args:
        points: The points.
        dimension: Length of the store's dense vectors.
        late_dimension: Length of its token vectors. None: it stores none.

    Raises:
        StoreRejectedError: If a point is invalid. The message names the memory and the problem.
    """
    for point in points:
        problem = _id_problem(point.memory.id) or embedding_problem(point.embedding, dimension, late_dimension)
        if problem:
            raise StoreRejectedError(f"memory {point.memory.id!r} of tenant {point.memory.tenant!r}: {problem}")


def newest_by_id(points: Sequence[Point]) -> list[Point]:
    """The points; of several with one id, only the one with the newest position.

    An engine compares the points of a request with the stored ones only, not with each other.
    """
    newest: dict[str, Point] = {}
    for point in points:
        other = newest.get(point.memory.id)
        if other is None or not point.position.is_older_than(other.position):
            newest[point.memory.id] = point
    return list(newest.values())


def canonical_positions(positions: Mapping[str, FeedPosition]) -> dict[str, FeedPosition]:
    """The newest position of each point, by canonical id, without ids that are invalid for a point."""
    newest: dict[str, FeedPosition] = {}
    for memory_id, position in positions.items():
        point_id = _point_id(memory_id)
        if point_id is not None and not position.is_older_than(newest.get(point_id)):
            newest[point_id] = position
    return newest


def embedding_problem(embedding: Embedding, dimension: int, late_dimension: int | None) -> str | None:
    """The problem of vectors that a store cannot accept; None if there is none.

    Args:
        embedding: The vectors.
        dimension: Length of the store's dense vectors.
        late_dimension: Length of its token vectors. None: it stores none.
    """
    dense, late = embedding.dense, embedding.late
    if dense.shape != (dimension,):
        return f"its dense vector has shape {dense.shape}, the store's points have ({dimension},)"
    if not _is_finite(dense):
        return "its dense vector holds a number that is not finite"
    if late is None:
        return None
    if late_dimension is None:
        return "it has late vectors, but the store's model has none"
    if late.ndim != 2 or late.shape[1] != late_dimension or not 1 <= late.shape[0] <= MAX_LATE_ROWS:
        return f"its late vectors have shape {late.shape}, allowed is (1..{MAX_LATE_ROWS}, {late_dimension})"
    return None if _is_finite(late) else "its late vectors hold a number that is not finite"


def point_ids(memory_ids: Sequence[str]) -> list[str]:
    """The canonical ids of the points, in the same order, without duplicates and without ids that are invalid for a point."""
    return list(dict.fromkeys(each for each in map(_point_id, memory_ids) if each is not None))


def _point_id(memory_id: str) -> str | None:
    """The canonical form of a UUID; None if the text is not a UUID."""
    try:
        return str(uuid.UUID(memory_id))
    except ValueError:
        return None


def _id_problem(memory_id: str) -> str | None:
    if _point_id(memory_id) == memory_id:
        return None
    return "its id is not a UUID in lower case with hyphens, as memory.ids makes them"


def _is_finite(vector: Vector) -> bool:
    return bool(np.isfinite(vector).all())
