"""Values of a key that a user's latest windows used, in Redis, until the store has the entities with these values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from redis.asyncio import Redis

from memory.keys import encode_key
from runtime.redis import GuardedRedis
from runtime.redis_keys import KeyFamily

MAX_VALUES: Final = 256
"""Limit for the stored values of a key; the most recently used are kept."""
TTL_S: Final = 86_400.0
"""Lifetime after the last use of any value, in seconds. By then the store has the entities, or their extraction failed."""


@dataclass(frozen=True, slots=True)
class KeyScope:
    """Identifies a key: its tenant, user and generation."""

    tenant: str
    user: str | None
    """None: the key belongs to the whole tenant."""
    generation: str
    """Empty for the first generation."""
    key: str


class KeyValueNotes:
    """Stores the values. Every method raises RedisUnavailableError while Redis is unavailable: then only the store's values are known.

    Args:
        redis: The store of the values.
        ttl_s: Lifetime, in seconds.
    """

    def __init__(self, *, redis: GuardedRedis, ttl_s: float = TTL_S) -> None:
        if ttl_s < 1:
            raise ValueError(f"the values of a key need ttl_s >= 1, got {ttl_s}")
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)

    async def latest(self, scope: KeyScope) -> tuple[str, ...]:
        """The most recently used values, the latest last."""
        key = self._key(scope)
        values = await self._redis.run("reading the values of a key", lambda client: client.lrange(key, 0, -1))
        return tuple(each.decode() for each in cast(list[bytes], values))

    async def add(self, scope: KeyScope, values: Sequence[str]) -> None:
        """Stores values as the most recently used ones."""
        key = self._key(scope)

        async def add(client: Redis) -> None:
            async with client.pipeline(transaction=True) as pipe:
                for value in values:
                    pipe.lrem(key, 0, value)
                    pipe.rpush(key, value)
                pipe.ltrim(key, -MAX_VALUES, -1)
                pipe.pexpire(key, self._ttl_ms)
                await pipe.execute()

        if values:
            await self._redis.run("storing the values of a key", add)

    async def forget(self, scope: KeyScope) -> None:
        """Deletes the values of a key."""
        key = self._key(scope)
        await self._redis.run("deleting the values of a key", lambda client: client.unlink(key))

    def _key(self, scope: KeyScope) -> str:
        owner = [scope.tenant] if scope.user is None else [scope.tenant, scope.user]
        # A tenant's key has one part less, so it never equals a user's key.
        return self._redis.key(KeyFamily.VALUES, encode_key(scope.generation or "-", scope.key, *owner).decode("ascii"))
