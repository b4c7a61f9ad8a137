"""What recalls returned lately to each user, in Redis: its echo in the conversation is recognised and not extracted again.

An echo comes after the recall. A message sent before it is no echo, even where its window is extracted again long after its own events
have been recalled. So the time of the first recall is kept, and compared.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from redis.asyncio import Redis

from memory.keys import encode_key
from runtime.redis import GuardedRedis
from runtime.redis_keys import KeyFamily

_SKEW_S: Final = 1.0
"""The clocks of two hosts differ by less."""


@dataclass(frozen=True, slots=True)
class Returned:
    """What one recall returned."""

    tenant: str
    """Whose recall it was."""
    user: str | None
    """For which user; None: for none alone, and no echo of it is looked for."""
    hashes: Sequence[str]
    """:func:`memory.text.content_hash` of each content; at least one."""


class RecallHistory:
    """The hashes of contents that recalls returned; bounded per user, dropped after a while.

    Every method raises RedisUnavailableError while Redis is away: echoes are then recognised by the client's mark alone.

    Args:
        redis: Where the hashes are kept.
        max_hashes: How many per user, the newest.
        ttl_s: How long a user's hashes are kept behind the newest, in seconds.
    """

    def __init__(self, *, redis: GuardedRedis, max_hashes: int = 512, ttl_s: float = 86400.0) -> None:
        if max_hashes < 1 or ttl_s <= 0:
            raise ValueError(f"max_hashes must be at least 1 and ttl_s above 0, got {max_hashes} and {ttl_s}")
        self._redis = redis
        self._max_hashes = max_hashes
        self._ttl_ms = int(ttl_s * 1000)

    async def add(self, returned: Sequence[Returned]) -> int:
        """Keeps what recalls returned: all of it, or nothing.

        Args:
            returned: Of any users.

        Returns:
            How many of these contents no recall had ever returned to their tenant, as Redis estimates it (HyperLogLog, within 1 %).
        """
        now = time.time()
        ever = self._redis.key(KeyFamily.RECALLED_EVER)

        async def add(client: Redis) -> int:
            async with client.pipeline(transaction=True) as pipe:
                pipe.pfcount(ever)
                pipe.pfadd(ever, *(encode_key(each.tenant, name) for each in returned for name in each.hashes))
                pipe.pfcount(ever)
                for each in returned:
                    if each.user is None:
                        continue
                    key = self._key(each.tenant, each.user)
                    pipe.zadd(key, dict.fromkeys(each.hashes, now), nx=True)
                    pipe.zremrangebyrank(key, 0, -self._max_hashes - 1)
                    pipe.pexpire(key, self._ttl_ms)
                before, _, after, *_ = await pipe.execute()
            return max(0, int(after) - int(before))

        return await self._redis.run("keeping what recalls returned", add)

    async def of(self, tenant: str, user: str, *, until: datetime) -> frozenset[str]:
        """The hashes of what was returned to a user lately.

        Args:
            tenant: The user's tenant.
            user: The user.
            until: When the possible echo arrived, by the wall clock: what was first recalled later is left out.
        """
        key, latest = self._key(tenant, user), until.timestamp() + _SKEW_S
        members = cast(
            list[bytes], await self._redis.run("reading what recalls returned", lambda client: client.zrangebyscore(key, "-inf", latest))
        )
        return frozenset(member.decode("ascii") for member in members)

    async def forget(self, tenant: str, user: str) -> None:
        """Forgets what a user's recalls returned."""
        key = self._key(tenant, user)
        await self._redis.run("forgetting what was recalled", lambda client: client.unlink(key))

    def _key(self, tenant: str, user: str) -> str:
        return self._redis.key(KeyFamily.RECALLED, encode_key(tenant, user).decode("ascii"))
