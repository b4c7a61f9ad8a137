"""Which entities stood in a window's prompt when it was first extracted, in Redis: a repeated extraction is given the same.

Without it, a window extracted again after a crash would be given entities that already know what it says. Nothing would be left to patch,
and once the first extraction's patches are retracted the facts would be lost.
"""

import zlib
from collections.abc import Iterable, Sequence
from itertools import product
from typing import cast

import orjson

from memory.keys import encode_key
from memory.records import Memory
from runtime.redis import GuardedRedis
from runtime.redis_keys import KeyFamily


class PromptEntities:
    """Keeps the entities of each window's first prompt, by window and generation.

    Every method raises RedisUnavailableError while Redis is away.

    Args:
        redis: Where they are kept.
        ttl_s: For how long, in seconds.
    """

    def __init__(self, *, redis: GuardedRedis, ttl_s: float) -> None:
        if ttl_s < 1:
            raise ValueError(f"a prompt's entities need ttl_s >= 1, got {ttl_s}")
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)

    async def of(self, tenant: str, window_id: str, generation: str) -> tuple[Memory, ...] | None:
        """The entities of a window's first prompt; None where it was not extracted lately.

        Args:
            tenant: The window's tenant.
            window_id: The window.
            generation: Empty for the first one.
        """
        key = self._key(tenant, window_id, generation)
        packed = cast(bytes | None, await self._redis.run("reading a prompt's entities", lambda client: client.get(key)))
        return None if packed is None else tuple(Memory.from_fields(fields) for fields in orjson.loads(zlib.decompress(packed)))

    async def remember(self, tenant: str, window_id: str, generation: str, entities: Sequence[Memory]) -> None:
        """Keeps the entities of a window's prompt, unless it had a prompt before.

        Args:
            tenant: The window's tenant.
            window_id: The window.
            generation: Empty for the first one.
            entities: What the prompt contains.
        """
        key = self._key(tenant, window_id, generation)
        packed = zlib.compress(b"[" + b",".join(entity.to_json() for entity in entities) + b"]")
        await self._redis.run("keeping a prompt's entities", lambda client: client.set(key, packed, px=self._ttl_ms, nx=True))

    async def forget(self, tenant: str, window_ids: Iterable[str], generations: Iterable[str]) -> None:
        """Forgets what windows were shown.

        Args:
            tenant: Whose windows.
            window_ids: The windows.
            generations: In which generations; the first one's name is empty.
        """
        keys = [self._key(tenant, *each) for each in product(window_ids, generations)]
        await self._redis.unlink("forgetting prompts' entities", keys)

    def _key(self, tenant: str, window_id: str, generation: str) -> str:
        return self._redis.key(KeyFamily.SHOWN, encode_key(tenant, window_id, generation or "-").decode("ascii"))
