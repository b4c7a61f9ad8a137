"""Makes memories, vectors and points for tests, deterministically."""

import dataclasses
import hashlib
import itertools
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from memory.records import Contribution, HistoryEntry, Memory, MemoryChange
from models.embedding.port import Embedder, Embedding, Vector
from models.embedding.weights import MODEL_NAME
from stores.edge.shard import EncodedPoint, Shard
from stores.index_writer import FeedChange, IndexWriter
from stores.points import payload_of, terms_of_memory
from stores.port import MemoryFilter, MemoryStore, Point, TenantScope
from stores.position import FeedPosition

DIMENSION = 8
LATE_DIMENSION = 6
MODEL = MODEL_NAME
"""The embedded model's name: for vectors of another model there is no confidence."""
NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def stable_id(*parts: object) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(map(str, parts))))


ANN = stable_id("ann")


def memory(content: str = "Ann bought a red bicycle", *, tenant: str = "acme", **fields: Any) -> Memory:
    fields.setdefault("id", stable_id(tenant, fields.get("user"), content, fields.get("generation", "")))
    fields.setdefault("event_time", NOON)
    fields.setdefault("kind", "event")
    fields.setdefault("type", "note")
    fields.setdefault("message_ids", ["m1"])
    return Memory(tenant=tenant, content=content, **fields)


FILTER_FIELDS = frozenset(each.name for each in dataclasses.fields(MemoryFilter))


def take_filter(scope: TenantScope, fields: dict[str, Any]) -> MemoryFilter:
    """The filter of a scope, with the fields of the arguments that are a filter's. They are removed from the arguments."""
    return MemoryFilter(scope=scope, **{name: fields.pop(name) for name in FILTER_FIELDS & fields.keys()})


def unit(vector: Vector) -> Vector:
    return np.asarray(vector / np.linalg.norm(vector, axis=-1, keepdims=True), dtype=np.float32)


def word_vector(word: str) -> Vector:
    seed = int.from_bytes(hashlib.sha256(word.casefold().encode()).digest()[:8], "big")
    return unit(np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32))


def token_vectors(rows: Vector) -> Vector:
    """The words' vectors as late ones: shorter than dense ones, as the embedded model's are."""
    return unit(rows[:, :LATE_DIMENSION])


def embedding(text: str, *, late: bool = True) -> Embedding:
    """A bag of words' vectors: texts are as similar as the words that they share."""
    rows = np.stack([word_vector(word) for word in text.split() or [""]])
    return Embedding(unit(rows.sum(axis=0)), token_vectors(rows) if late else None)


def at(offset: int, *, partition: int = 0, produced_ms: int | None = None) -> FeedPosition:
    return FeedPosition(partition, offset, produced_ms)


def point(memory_: Memory, *, late: bool = True, position: FeedPosition | None = None) -> Point:
    """A point of the feed's first record, unless a position is given: equal positions replace each other."""
    return Point(memory_, embedding(memory_.content, late=late), position or at(0))


def prepared_shard(folder: Path) -> Shard:
    shard = Shard(folder)
    shard.prepare(MODEL, DIMENSION, LATE_DIMENSION)
    return shard


def encoded(made: Point) -> EncodedPoint:
    """A point as the owner reads it."""
    assert made.embedding.late is not None
    dense, late = made.embedding.dense.tolist(), made.embedding.late.tolist()
    return EncodedPoint(made.memory.id, payload_of(made), dense, late, terms_of_memory(made.memory))


def put_in_shard(shard: Shard, stored: Memory, offset: int = 0) -> None:
    """Writes a memory as the owner does."""
    shard.upsert([encoded(point(stored, position=at(offset)))])


def step(number: int, *, entity: str = ANN, tenant: str = "acme", place: int | None = None, **fields: Any) -> HistoryEntry:
    """A step of an entity's history, by its place in it."""
    contribution = Contribution(
        tenant=tenant, entity_type="person", entity_key="ann", source="extractions/0", position=number, time=NOON, recorded_at=NOON
    )
    name = stable_id(tenant, entity, number if place is None else place)
    return HistoryEntry(id=name, tenant=tenant, entity=entity, number=number, contribution=contribution, **fields)


def deletions(*ids: str, position: FeedPosition | None = None) -> dict[str, FeedPosition]:
    return dict.fromkeys(ids, position or at(0))


S = TypeVar("S", bound=MemoryStore)

_offsets = itertools.count()


def in_feed(changes: Iterable[MemoryChange]) -> list[FeedChange]:
    """Changes as the feed's next records."""
    return [FeedChange(change, at(next(_offsets))) for change in changes]


async def store_memories(store: S, *memories: Memory, embedder: Embedder | None = None) -> S:
    """Writes memories as the index stage does. Returns the store.

    Args:
        store: The store.
        memories: The memories.
        embedder: Their model. Default: :class:`BagOfWordsEmbedder`.
    """
    changes = [MemoryChange(op="upsert", memory_id=new.id, tenant=new.tenant, memory=new) for new in memories]
    await IndexWriter(store=store, embedder=embedder or BagOfWordsEmbedder()).write(in_feed(changes))
    return store


class BagOfWordsEmbedder:
    """An embedder without a model. ``embedded`` lists the texts that were embedded as documents."""

    name = MODEL
    dimension = DIMENSION
    late_dimension = LATE_DIMENSION

    def __init__(self) -> None:
        self.embedded: list[str] = []

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        self.embedded += texts
        return [embedding(text) for text in texts]

    def cached(self, text: str) -> Embedding | None:
        return embedding(text) if text in self.embedded else None

    async def embed_query(self, text: str) -> Embedding:
        return embedding(text)

    async def close(self) -> None:
        pass
