"""Which entities each window was shown when it was first extracted, in Redis: so that an extraction that is repeated sees the same.

Without it, a window that is extracted again after a crash would be shown entities that know already what it says: nothing would be left to
patch, and with the first extraction's patches taken back the facts would be lost.
"""

import zlib
from collections.abc import Sequence
from typing import cast

import orjson
from redis.asyncio import Redis

from memory.keys import encode_key
from memory.records import Memory
from runtime.redis import redis_faults


class PromptEntities:
    """Remembers per window and generation what was shown first.

    Every method raises RedisUnavailableError while Redis is away.

    Args:
        client: As :func:`runtime.redis.connect_redis` makes it.
        prefix: Put before every key.
        ttl_s: How long it is remembered.
    """

    def __init__(self, *, client: Redis, prefix: str, ttl_s: float) -> None:
        if ttl_s < 1:
            raise ValueError(f"what was shown is kept for at least 1 s, got {ttl_s}")
        self._client = client
        self._prefix = prefix
        self._ttl_ms = int(ttl_s * 1000)

    async def of(self, tenant: str, window_id: str, generation: str) -> tuple[Memory, ...] | None:
        """What a window was shown first; None where it was not extracted lately."""
        with redis_faults("reading what a window was shown"):
            packed = cast(bytes | None, await self._client.get(self._key(tenant, window_id, generation)))
        return None if packed is None else tuple(Memory.from_fields(fields) for fields in orjson.loads(zlib.decompress(packed)))

    async def remember(self, tenant: str, window_id: str, generation: str, entities: Sequence[Memory]) -> None:
        """Notes what a window is shown, unless it was shown something before."""
        packed = zlib.compress(b"[" + b",".join(entity.to_json() for entity in entities) + b"]")
        with redis_faults("noting what a window is shown"):
            await self._client.set(self._key(tenant, window_id, generation), packed, px=self._ttl_ms, nx=True)

    def _key(self, tenant: str, window_id: str, generation: str) -> str:
        return f"{self._prefix}shown:{encode_key(tenant, window_id, generation or '-').decode('ascii')}"
