"""Contents that recalls recently returned to each user, in Redis: their echo in the conversation is recognized and not extracted again.

An echo comes after the recall. A message sent before the recall is no echo, even if its window is extracted again after its events have
been recalled. Therefore the time of the first recall is stored and compared.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from redis.asyncio import Redis

from memory.keys import encode_key
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

_TTL_MS: Final = 86_400_000
"""Lifetime of a user's hashes after the newest one."""
_SKEW_S: Final = 1.0
"""Upper bound for the difference between two hosts' clocks."""


@dataclass(frozen=True, slots=True)
class Returned:
    """Result of one recall."""

    tenant: str
    """Tenant of the recall."""
    user: str | None
    """User of the recall; None: no single user, so its echoes are not recognized."""
    hashes: Sequence[str]
    """:func:`memory.texts.text.content_hash` of each content; at least one."""


class RecallHistory:
    """Hashes of contents that recalls returned, with a limit per user and a lifetime.

    Every method raises RedisUnavailableError while Redis is unavailable: then only the client's mark identifies echoes.

    Args:
        max_hashes: Limit per user; the newest hashes are kept.
    """

    def __init__(self, *, redis: GuardedRedis, max_hashes: int = 512) -> None:
        if max_hashes < 1:
            raise ValueError(f"max_hashes must be at least 1, got {max_hashes}")
        self._redis = redis
        self._max_hashes = max_hashes

    async def add(self, returned: Sequence[Returned]) -> int:
        """Stores results of recalls atomically.

        Returns:
            How many of the contents were returned to their tenant for the first time, as estimated by Redis (HyperLogLog, within 1 %).
        """
        now = time.time()
        ever = self._redis.key(KeyFamily.RECALLED_EVER)

        async def add(client: Redis) -> int:
            async with client.pipeline(transaction=True) as pipe:
                pipe.pfcount(ever)
                pipe.pfadd(ever, *(encode_key(each.tenant, name) for each in returned for name in each.hashes))
                pipe.pfcount(ever)
                for recall in returned:
                    if recall.user is None:
                        continue
                    key = self._key(recall.tenant, recall.user)
                    pipe.zadd(key, dict.fromkeys(recall.hashes, now), nx=True)
                    pipe.zremrangebyrank(key, 0, -self._max_hashes - 1)
                    pipe.pexpire(key, _TTL_MS)
                before, _, after, *_ = await pipe.execute()
            return max(0, int(after) - int(before))

        return await self._redis.run("storing recalled contents", add)

    async def of(self, tenant: str, user: str, *, until: datetime) -> frozenset[str]:
        """The hashes of contents recently returned to a user.

        Args:
            tenant: The user's tenant.
            user: The user.
            until: Arrival time of the possible echo (wall clock): contents first recalled later are excluded.
        """
        key, latest = self._key(tenant, user), until.timestamp() + _SKEW_S
        members = cast(
            list[bytes], await self._redis.run("reading recalled contents", lambda client: client.zrangebyscore(key, "-inf", latest))
        )
        return frozenset(member.decode("ascii") for member in members)

    async def forget(self, tenant: str, user: str) -> None:
        """Deletes the hashes of a user."""
        await self._redis.unlink("deleting recalled contents", [self._key(tenant, user)])

    def _key(self, tenant: str, user: str) -> str:
        return self._redis.key_of(KeyFamily.RECALLED, tenant, user)
