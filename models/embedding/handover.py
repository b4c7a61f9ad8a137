"""Vectors on their way from the extraction stage to the index stage, in Redis, so that no text is embedded twice.

A user's vectors are in one hash, by digests of the model and the text. The index takes each one once. Whatever is missing, because Redis is
away, full or slower than the index, is embedded again: nothing depends on this data.
"""

import struct
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Any, Final, cast

import numpy as np
from redis.asyncio import Redis

from memory.vectors import unit_rows
from models.embedding.port import Embedder, Embedding, Vector
from runtime.errors import RedisUnavailableError
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.settings import EmbeddingSettings

MAX_BYTES: Final = 64_000_000
"""Limit for the vectors that a process writes within ``ttl_s``, in bytes: the index may be stopped, and Redis holds other data."""
_SHAPE: Final = struct.Struct("<HHH")
"""Length of the dense vector, and rows and columns of the late one."""
_DIGEST_BYTES: Final = 16
_NUMBER: Final = np.dtype("<f2")

Owner = tuple[str, str | None]
"""Tenant and user of a memory."""


class VectorHandover:
    """Hands vectors over. No method raises: while Redis is unavailable, nothing is handed over.

    Args:
        redis: Stores the waiting vectors.
        embedder: Its name is part of each key. Of its vectors, those that it computed lately are offered.
        ttl_s: How long a user's vectors wait after the last one was written, in seconds; above 0.
        max_bytes: Limit for the vectors that this process writes within ``ttl_s``.
        clock: Seconds that never go back.

    Raises:
        ValueError: If ``ttl_s`` is not above 0.
    """

    def __init__(
        self,
        *,
        redis: GuardedRedis,
        embedder: Embedder,
        ttl_s: float,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if ttl_s <= 0:
            raise ValueError(f"a handover of vectors needs ttl_s > 0, got {ttl_s}")
        self._redis = redis
        self._embedder = embedder
        self._ttl_s = ttl_s
        self._max_bytes = max_bytes
        self._clock = clock
        self._written: deque[tuple[float, int]] = deque()
        self._written_bytes = 0

    async def offer(self, owner: Owner, texts: Iterable[str]) -> int:
        """Writes the vectors of those texts that the embedder computed lately.

        Args:
            owner: The owner of the memories with these texts.
            texts: The texts that the index will embed.

        Returns:
            The number of texts whose vectors wait now.
        """
        found = {text: embedding for text in texts if (embedding := self._embedder.cached(text)) is not None}
        values = {self._field(text): _encoded(embedding) for text, embedding in found.items()}
        if not values or self._redis.refuses_writes or not self._admits(sum(map(len, values.values()))):
            return 0
        key = self._key(owner)

        async def write(client: Redis) -> None:
            async with client.pipeline(transaction=False) as pipe:
                pipe.hset(key, mapping=cast(dict[Any, Any], values))
                pipe.pexpire(key, int(self._ttl_s * 1000))
                await pipe.execute()

        with suppress(RedisUnavailableError):
            await self._redis.run("handing vectors over", write)
            return len(values)
        return 0

    async def take(self, wanted: Mapping[Owner, Sequence[str]]) -> dict[str, Embedding]:
        """Removes the vectors of texts, and returns those that were there, by text.

        Args:
            wanted: Texts, by the owner of their memories.
        """
        owners = [(owner, list(dict.fromkeys(texts))) for owner, texts in wanted.items() if texts]
        if not owners:
            return {}

        async def read(client: Redis) -> list[Any]:
            async with client.pipeline(transaction=False) as pipe:
                for owner, texts in owners:
                    fields = [self._field(text) for text in texts]
                    pipe.hmget(self._key(owner), fields)
                    pipe.hdel(self._key(owner), *cast(list[Any], fields))
                return list(await pipe.execute())

        taken: dict[str, Embedding] = {}
        with suppress(RedisUnavailableError):
            answers = await self._redis.run("taking over vectors", read)
            for (_, texts), values in zip(owners, answers[::2], strict=True):
                taken |= {text: _decoded(value) for text, value in zip(texts, values, strict=True) if value is not None}
        return taken

    def _admits(self, size: int) -> bool:
        now = self._clock()
        while self._written and self._written[0][0] <= now - self._ttl_s:
            self._written_bytes -= self._written.popleft()[1]
        if self._written_bytes + size > self._max_bytes:
            return False
        self._written.append((now, size))
        self._written_bytes += size
        return True

    def _field(self, text: str) -> bytes:
        content = f"{self._embedder.name}\0{text}".encode("utf-8", "surrogatepass")
        return blake2b(content, digest_size=_DIGEST_BYTES).digest()

    def _key(self, owner: Owner) -> str:
        return key_of(self._redis, owner)


def build_handover(settings: EmbeddingSettings, *, redis: GuardedRedis, embedder: Embedder) -> VectorHandover | None:
    """The handover that the settings describe; None if they switch it off.

    Args:
        settings: The settings of the embedding model.
        redis: Where vectors wait.
        embedder: Embeds the texts of this process.
    """
    return VectorHandover(redis=redis, embedder=embedder, ttl_s=settings.handover_s) if settings.handover_s > 0 else None


async def forget_vectors(redis: GuardedRedis, owners: Sequence[Owner]) -> None:
    """Deletes the waiting vectors of users.

    Args:
        redis: Stores the waiting vectors.
        owners: The users.

    Raises:
        RedisUnavailableError: If Redis is unavailable.
    """
    await redis.unlink("deleting vectors", [key_of(redis, owner) for owner in owners])


def key_of(redis: GuardedRedis, owner: Owner) -> str:
    """The key of a user's waiting vectors."""
    tenant, user = owner
    parts = (tenant,) if user is None else (tenant, user)
    return redis.key_of(KeyFamily.VECTORS, *parts)


def _encoded(embedding: Embedding) -> bytes:
    rows, columns = (0, 0) if embedding.late is None else embedding.late.shape
    late = b"" if embedding.late is None else embedding.late.astype(_NUMBER).tobytes()
    return _SHAPE.pack(len(embedding.dense), rows, columns) + embedding.dense.astype(_NUMBER).tobytes() + late


def _decoded(value: bytes) -> Embedding:
    length, rows, columns = _SHAPE.unpack_from(value)
    numbers = np.frombuffer(value, dtype=_NUMBER, offset=_SHAPE.size).astype(np.float32)
    dense = unit_rows(numbers[:length].reshape(1, length))[0]
    late: Vector | None = unit_rows(numbers[length:].reshape(rows, columns)) if columns else None
    return Embedding(dense, late)
