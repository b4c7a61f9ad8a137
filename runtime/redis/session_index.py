"""The sessions with recent messages in Redis, by tenant and by user: one sorted set each, by the time of a session's last write.

A list of sessions reads a page of one set, whatever the number of sessions. The sets are a view, like the tails
(:mod:`runtime.redis.session_tail`): a session whose tail has expired may still be listed for a while.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Self, cast

from redis.asyncio import Redis

from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.redis.lua import CLOCK

_ADD: Final = (
    CLOCK
    + """
local now, ttl = clock(''), tonumber(ARGV[1])
for index = 2, #ARGV do redis.call('ZADD', KEYS[1], now, ARGV[index]) end
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ttl, 'LIMIT', 0, 2 * #ARGV)
if #old > 0 then redis.call('ZREM', KEYS[1], unpack(old)) end
redis.call('PEXPIRE', KEYS[1], ttl)
"""
)
"""Adds sessions. It removes at most twice as many old ones: a set that has been idle must not stop Redis while it is emptied."""


@dataclass(frozen=True, slots=True)
class SessionMark:
    """The place of a session in a list."""

    written_ms: int
    session: str

    @classmethod
    def read(cls, text: str) -> Self:
        """Reads a mark.

        Raises:
            ValueError: If it is none.
        """
        written_ms, separator, session = text.partition("-")
        if not separator or not session or not (written_ms.isascii() and written_ms.isdigit()):
            raise ValueError(f"{text!r} is not the place of a session in a list")
        return cls(int(written_ms), session)

    def __str__(self) -> str:
        return f"{self.written_ms}-{self.session}"


class SessionIndex:
    """Lists sessions, newest first. Every method raises RedisUnavailableError while Redis is unavailable.

    Args:
        ttl_ms: Lifetime of a session in the list after its last write, in milliseconds.
    """

    def __init__(self, *, redis: GuardedRedis, ttl_ms: int) -> None:
        self._redis = redis
        self._ttl_ms = ttl_ms

    async def add(self, written: Mapping[tuple[str, str], Collection[str]]) -> None:
        """Adds sessions, or moves them to the front.

        Args:
            written: The users of each session, which is named by tenant and session.
        """
        sessions: dict[str, list[str]] = {}
        for (tenant, session), users in written.items():
            for key in (self._key(tenant), *(self._key(tenant, user) for user in users)):
                sessions.setdefault(key, []).append(session)
        if not sessions:
            return

        async def add(client: Redis) -> None:
            script = client.register_script(_ADD)
            async with client.pipeline(transaction=False) as pipe:
                for key, names in sessions.items():
                    await script(keys=[key], args=[self._ttl_ms, *names], client=pipe)
                await pipe.execute()

        await self._redis.run("listing written sessions", add)

    async def page(self, tenant: str, user: str | None, *, after: SessionMark | None, limit: int) -> list[SessionMark]:
        """The sessions of a tenant or a user, the one that was written last first.

        Args:
            tenant: The tenant.
            user: The user. None: all users.
            after: The last session of the previous page. None: the first page.
            limit: Most sessions.
        """
        key = self._key(tenant, user)

        async def page(client: Redis) -> list[SessionMark]:
            seconds, microseconds = await client.time()
            oldest = seconds * 1000 + microseconds // 1000 - self._ttl_ms
            newest = "+inf" if after is None else after.written_ms
            found: list[SessionMark] = []
            skipped = 0
            while len(found) < limit:
                read = cast(
                    list[tuple[bytes, float]],
                    await client.zrevrangebyscore(key, newest, oldest, start=skipped, num=limit, withscores=True),
                )
                marks = [SessionMark(int(score), name.decode()) for name, score in read]
                # Redis orders sessions of the same time by their bytes, the greatest first.
                found += [each for each in marks if after is None or _sort_key(each) < _sort_key(after)]
                if len(read) < limit:
                    break
                skipped += limit
            return found[:limit]

        return await self._redis.run("listing sessions", page)

    async def remove(self, tenant: str, user: str, session: str, *, of_tenant: bool) -> None:
        """Removes a session of a user.

        Args:
            tenant: The tenant.
            user: The user.
            session: The session.
            of_tenant: Whether the tenant's list loses it, too: nobody has messages in it.
        """

        async def remove(client: Redis) -> None:
            async with client.pipeline(transaction=False) as pipe:
                pipe.zrem(self._key(tenant, user), session)
                if of_tenant:
                    pipe.zrem(self._key(tenant), session)
                await pipe.execute()

        await self._redis.run("removing a session from lists", remove)

    def _key(self, tenant: str, user: str | None = None) -> str:
        if user is None:
            return self._redis.key_of(KeyFamily.SESSIONS, tenant)
        return self._redis.key_of(KeyFamily.SESSIONS_OF, tenant, user)


def _sort_key(mark: SessionMark) -> tuple[int, bytes]:
    return mark.written_ms, mark.session.encode()
