"""Which values of a key a user's latest windows used, in Redis, until the store has the entities that they name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from redis.asyncio import Redis

from memory.keys import encode_key
from runtime.redis import GuardedRedis
from runtime.redis_keys import KeyFamily

MAX_VALUES: Final = 256
"""Values of a key that are kept, those used last."""
TTL_S: Final = 86_400.0
"""For how long they are kept behind the last use of any, in seconds. By then the store has them, or they came to nothing."""


@dataclass(frozen=True, slots=True)
class KeyScope:
    """Whose values of which key."""

    tenant: str
    user: str | None
    """None: the whole tenant's."""
    generation: str
    """Empty for the first one."""
    key: str


class KeyValueNotes:
    """Keeps the values. Every method raises RedisUnavailableError while Redis is away: then the store alone tells which there are.

    Args:
        redis: Where they are kept.
        ttl_s: For how long, in seconds.
    """

    def __init__(self, *, redis: GuardedRedis, ttl_s: float = TTL_S) -> None:
        if ttl_s < 1:
            raise ValueError(f"the values of a key need ttl_s >= 1, got {ttl_s}")
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)

    async def latest(self, scope: KeyScope) -> tuple[str, ...]:
        """The values used last, the latest last."""
        key = self._key(scope)
        values = await self._redis.run("reading the values of a key", lambda client: client.lrange(key, 0, -1))
        return tuple(each.decode() for each in cast(list[bytes], values))

    async def add(self, scope: KeyScope, values: Sequence[str]) -> None:
        """Keeps values as the ones used last."""
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
            await self._redis.run("keeping the values of a key", add)

    async def forget(self, scope: KeyScope) -> None:
        """Forgets them."""
        key = self._key(scope)
        await self._redis.run("forgetting the values of a key", lambda client: client.unlink(key))

    def _key(self, scope: KeyScope) -> str:
        owner = [scope.tenant] if scope.user is None else [scope.tenant, scope.user]
        # A part more or less: no tenant's values can be taken for a user's.
        return self._redis.key(KeyFamily.VALUES, encode_key(scope.generation or "-", scope.key, *owner).decode("ascii"))
