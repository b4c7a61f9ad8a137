"""What the latest windows of each session were about, in Redis: the summary that the next window's extraction is shown."""

from collections.abc import Sequence
from typing import Final, cast

import orjson
from redis.asyncio import Redis

from memory.keys import encode_key
from runtime.redis import redis_faults

KEPT_WINDOWS: Final = 5
"""Windows of a session that are remembered."""


class SessionTopics:
    """Remembers the topics of a session's latest windows, by the window's number, so that a repetition sees what the first try saw.

    Every method raises RedisUnavailableError while Redis is away: an extraction then goes without the summary.

    Args:
        client: As :func:`runtime.redis.connect_redis` makes it.
        prefix: Put before every key.
        ttl_s: How long a session's topics are kept behind its newest window.
    """

    def __init__(self, *, client: Redis, prefix: str, ttl_s: float) -> None:
        if ttl_s < 1:
            raise ValueError(f"topics are kept for at least 1 s, got {ttl_s}")
        self._client = client
        self._prefix = prefix
        self._ttl_ms = int(ttl_s * 1000)

    async def before(self, tenant: str, session: str, generation: str, sequence: int) -> tuple[str, ...]:
        """The topics of the windows before one, oldest first.

        Args:
            tenant: The session's tenant.
            session: The session.
            generation: Empty for the first one.
            sequence: The window's number in its session.
        """
        numbers = range(max(0, sequence - KEPT_WINDOWS), sequence)
        if not numbers:
            return ()
        with redis_faults("reading what a session was about"):
            packed = cast(
                list[bytes | None], await self._client.hmget(self._key(tenant, session, generation), [str(number) for number in numbers])
            )
        return tuple(topic for topics in packed if topics is not None for topic in orjson.loads(topics))

    async def note(self, tenant: str, session: str, generation: str, sequence: int, topics: Sequence[str]) -> None:
        """Notes what a window was about; a window extracted again replaces what it said."""
        key = self._key(tenant, session, generation)
        with redis_faults("noting what a session is about"):
            async with self._client.pipeline(transaction=True) as pipe:
                pipe.hset(key, str(sequence), orjson.dumps(list(topics)))
                pipe.hdel(key, str(sequence - 2 * KEPT_WINDOWS))
                pipe.pexpire(key, self._ttl_ms)
                await pipe.execute()

    def _key(self, tenant: str, session: str, generation: str) -> str:
        return f"{self._prefix}topics:{encode_key(tenant, session, generation or '-').decode('ascii')}"
