"""Makes memories, vectors and points for tests, deterministically."""

import hashlib
import uuid
from datetime import UTC, datetime
from typing import Any

import numpy as np

from memory.records import Memory
from models.embedding.port import Embedding, Vector
from retrieval.stores.port import Point

DIMENSION = 8
MODEL = "made-up"
NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def stable_id(*parts: object) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(map(str, parts))))


def memory(content: str = "Ann bought a red bicycle", *, tenant: str = "acme", **fields: Any) -> Memory:
    fields.setdefault("id", stable_id(tenant, fields.get("user"), content, fields.get("generation", "")))
    fields.setdefault("event_time", NOON)
    fields.setdefault("kind", "event")
    fields.setdefault("type", "note")
    fields.setdefault("message_ids", ["m1"])
    return Memory(tenant=tenant, content=content, **fields)


def unit(vector: Vector) -> Vector:
    return np.asarray(vector / np.linalg.norm(vector, axis=-1, keepdims=True), dtype=np.float32)


def word_vector(word: str) -> Vector:
    seed = int.from_bytes(hashlib.sha256(word.casefold().encode()).digest()[:8], "big")
    return unit(np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32))


def embedding(text: str, *, late: bool = True) -> Embedding:
    """A bag of words' vectors: texts are as similar as the words that they share."""
    rows = np.stack([word_vector(word) for word in text.split() or [""]])
    return Embedding(unit(rows.sum(axis=0)), rows if late else None)


def point(memory_: Memory, *, late: bool = True) -> Point:
    return Point(memory_, embedding(memory_.content, late=late))


class BagOfWordsEmbedder:
    """An embedder without a model. ``embedded`` lists the texts that were embedded as documents."""

    name = MODEL
    dimension = DIMENSION

    def __init__(self) -> None:
        self.embedded: list[str] = []

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        self.embedded += texts
        return [embedding(text) for text in texts]

    async def embed_query(self, text: str) -> Embedding:
        return embedding(text)

    async def close(self) -> None:
        pass
