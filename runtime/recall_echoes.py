"""What recalls returned lately to each user, in Redis: so that its echo in the conversation is known, and not extracted again.

An echo comes after the recall. What was said before it is no echo, also where a window is extracted again long after its own events
have been recalled: so the time of the first recall is kept, and asked for.
"""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Final, cast

from redis.asyncio import Redis

from memory.keys import encode_key
from runtime.redis import redis_faults

_SKEW_S: Final = 1.0
"""The clocks of two hosts differ by less."""


class RecallEchoes:
    """The hashes of contents that recalls returned; bounded per user, forgotten after a while.

    Every method raises RedisUnavailableError while Redis is away: whoever reads then knows echoes by the client's mark alone.

    Args:
        client: As :func:`runtime.redis.connect_redis` makes it.
        prefix: Put before every key.
        keep: Newest hashes kept per user.
        ttl_s: How long a user's hashes are kept behind the newest, in seconds.
    """

    def __init__(self, *, client: Redis, prefix: str, keep: int = 512, ttl_s: float = 86400.0) -> None:
        if keep < 1 or ttl_s <= 0:
            raise ValueError(f"keep must be at least 1 and ttl_s above 0, got {keep} and {ttl_s}")
        self._client = client
        self._prefix = prefix
        self._keep = keep
        self._ttl_ms = int(ttl_s * 1000)

    async def add(self, tenant: str, user: str, hashes: Sequence[str]) -> None:
        """Notes what a recall returned.

        Args:
            tenant: Whose recall it was.
            user: For which user.
            hashes: :func:`memory.hashing.content_hash` of each content.
        """
        if not hashes:
            return
        key = self._key(tenant, user)
        now = time.time()
        with redis_faults("noting what a recall returned"):
            async with self._client.pipeline(transaction=True) as pipe:
                pipe.zadd(key, dict.fromkeys(hashes, now), nx=True)
                pipe.zremrangebyrank(key, 0, -self._keep - 1)
                pipe.pexpire(key, self._ttl_ms)
                await pipe.execute()

    async def of(self, tenant: str, user: str, *, until: datetime) -> frozenset[str]:
        """The hashes of what was returned to a user lately.

        Args:
            tenant: The user's tenant.
            user: The user.
            until: When what may be an echo was taken in, by the wall clock: what was first recalled later is left out.
        """
        latest = until.timestamp() + _SKEW_S
        with redis_faults("reading what recalls returned"):
            members = cast(list[bytes], await self._client.zrangebyscore(self._key(tenant, user), "-inf", latest))
        return frozenset(member.decode("ascii") for member in members)

    def _key(self, tenant: str, user: str) -> str:
        return f"{self._prefix}recalled:{encode_key(tenant, user).decode('ascii')}"
