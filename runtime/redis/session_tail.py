"""The newest messages of every session in Redis: short-term memory, readable before any window closes (read your writes).

A session has two values: the open window and the newest closed one, each written as a whole. So a write needs one command for any number
of messages, and is idempotent. A window counts as open only while no later or equal one has closed.

Redis cannot reject the writes of a replaced worker. Therefore a value contains the position of the newest message known to its writer, and
a write does not replace a value with a later position. Positions are compared within one partition. A session's partition changes only if
the topic was recreated; then the later write wins.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, cast

import orjson
from redis.asyncio import Redis

from memory.keys import encode_key
from runtime.errors import RedisUnavailableError
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.redis.session_index import SessionIndex, SessionMark

_WRITE: Final = """
local function write(key, value)
    if value == '' then return 0 end
    local partition, offset = string.match(redis.call('GETRANGE', key, 0, 63), '^(%d+)/(%-?%d+)/')
    if partition == ARGV[1] and tonumber(offset) > tonumber(ARGV[2]) then return 0 end
    redis.call('SET', key, ARGV[1] .. '/' .. ARGV[2] .. '/' .. value, 'PX', ARGV[3])
    return 1
end
return write(KEYS[1], ARGV[4]) + write(KEYS[2], ARGV[5])
"""
"""Writes the open and the closed window of a session, each unless a later one is stored. A value without a position counts as oldest.

It returns the number of written windows.
"""

_REPLACE: Final = """
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
"""
"""Writes a value in place of the one that was read, unless another was written meanwhile."""
_FENCE_MS: Final = 3_600_000
"""A worker that was replaced, or whose write Redis refused, writes nothing any more after so long."""
_TRIES: Final = 20

_PLACE: Final = re.compile(rb"(\d+)/(-?\d+)/")


@dataclass(frozen=True, slots=True)
class TailWindow:
    """The messages of one window of a session."""

    sequence: int
    """The window's number, from 0."""
    messages: tuple[bytes, ...]
    """JSON of each message as in the log, oldest first."""

    @property
    def users(self) -> frozenset[str]:
        """The users of the messages."""
        parsed = (orjson.loads(each) for each in self.messages)
        return frozenset(str(each["user"]) for each in parsed if isinstance(each, dict) and "user" in each)

    def of(self, user: str) -> "TailWindow":
        """The window with only the messages of one user."""
        return TailWindow(self.sequence, tuple(each for each in self.messages if orjson.loads(each).get("user") == user))

    def without(self, user: str) -> "TailWindow":
        """The window without the messages of one user."""
        return TailWindow(self.sequence, tuple(each for each in self.messages if orjson.loads(each).get("user") != user))


@dataclass(frozen=True, slots=True, order=True)
class TailPlace:
    """Position of a message in the log of messages."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class SessionView:
    """Content of a session's tail."""

    closed: TailWindow | None = None
    """The newest closed window."""
    open: TailWindow | None = None
    place: TailPlace | None = field(default=None, compare=False)
    """Position of the newest message known to the writer; None: nothing was written."""

    @property
    def messages(self) -> tuple[bytes, ...]:
        """All messages, oldest first."""
        return tuple(each for window in (self.closed, self.open) if window is not None for each in window.messages)

    def of(self, user: str | None) -> "SessionView":
        """The tail with only one user's messages; None: all messages. Windows without messages of the user are removed."""
        if user is None:
            return self
        closed, opened = (None if each is None else each.of(user) for each in (self.closed, self.open))
        if not any(each and each.messages for each in (closed, opened)):
            return SessionView()
        return replace(self, closed=closed if closed and closed.messages else None, open=opened if opened and opened.messages else None)


@dataclass(frozen=True, slots=True)
class TailUpdate:
    """The new tail of a session; parts that are None are not changed."""

    tenant: str
    session: str
    view: SessionView
    partition: int
    """Partition of the session's messages."""
    offset: int
    """Offset of the newest message known to the writer."""
    users: frozenset[str] = frozenset()
    """The users whose lists get the session: those of the new parts."""


class SessionTail:
    """Writes and reads session tails. Every method raises RedisUnavailableError while Redis is unavailable; only the view is lost then.

    Args:
        ttl_s: Lifetime of a tail after its last write, in seconds.
    """

    def __init__(self, *, redis: GuardedRedis, ttl_s: float = 7 * 86400.0) -> None:
        if ttl_s < 1:
            raise ValueError(f"a tail needs ttl_s >= 1, got {ttl_s}")
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)
        self._index = SessionIndex(redis=redis, ttl_ms=self._ttl_ms)

    async def write(self, updates: Iterable[TailUpdate]) -> None:
        """Writes tails of sessions in one round trip, and their places in lists in another one.

        Updates that are older than the stored tail are skipped.
        """
        updates = list(updates)

        async def write(client: Redis) -> list[int]:
            script = client.register_script(_WRITE)
            async with client.pipeline(transaction=False) as pipe:
                for update in updates:
                    windows = (_packed(update.view.open), _packed(update.view.closed))
                    arguments = (update.partition, update.offset, self._ttl_ms, *windows)
                    await script(keys=self._keys(update.tenant, update.session), args=arguments, client=pipe)
                return cast(list[int], await pipe.execute())

        written = await self._redis.run("writing session tails", write)
        listed: dict[tuple[str, str], frozenset[str]] = {}
        for update, windows in zip(updates, written, strict=True):
            if windows and update.view.messages:
                name = (update.tenant, update.session)
                listed[name] = listed.get(name, frozenset()) | update.users
        await self._index.add(listed)

    async def read(self, tenant: str, session: str) -> SessionView:
        """The tail of a session; empty if the session is unknown or its tail has expired.

        Raises:
            RedisFullError: If Redis refuses writes, so that the stored tail may be stale.
            RedisUnavailableError: If Redis is unavailable, or has evicted keys and stores no tail of this session.
        """
        keys = self._keys(tenant, session)

        async def read(client: Redis) -> list[bytes | None]:
            # The trial write fails if the worker's writes of this tail fail.
            async with client.pipeline(transaction=False) as pipe:
                pipe.mget(keys)
                await self._redis.write_probe(pipe)
                found, _ = await pipe.execute()
            return cast(list[bytes | None], found)

        values = await self._redis.run("reading a session tail", read)
        if self._redis.has_evicted and not any(values):
            raise RedisUnavailableError("Redis has evicted keys, perhaps the tail of this session; set maxmemory-policy to noeviction")
        written_open, written_closed = values
        closed, opened = _unpacked(written_closed), _unpacked(written_open)
        still_open = opened is not None and bool(opened.messages) and (closed is None or opened.sequence > closed.sequence)
        places = [place for place in map(_place, values) if place is not None]
        return SessionView(
            closed=closed if closed and closed.messages else None, open=opened if still_open else None, place=max(places, default=None)
        )

    async def sessions(self, tenant: str, user: str | None, *, after: SessionMark | None, limit: int) -> list[SessionMark]:
        """See :meth:`runtime.redis.session_index.SessionIndex.page`; some may have no messages any more."""
        return await self._index.page(tenant, user, after=after, limit=limit)

    async def forget(self, tenant: str, session: str, *, user: str, erased_at: TailPlace) -> None:
        """Forgets the messages of an erased user in a session. Messages of others stay, and those that the user has sent since.

        For a while, the position of the erasure remains: a write from before the erasure, however late, changes nothing.

        Args:
            tenant: The session's tenant.
            session: The session.
            user: The user.
            erased_at: The position of the erasure in the log of messages.

        Raises:
            RedisUnavailableError: If Redis is unavailable, or the tail is written faster than it can be forgotten.
        """
        open_key, closed_key = self._keys(tenant, session)
        await self._forget(open_key, user, erased_at, keeps_later=True)
        # A closed window is written again at later positions, so its position does not show when its messages were sent.
        await self._forget(closed_key, user, erased_at, keeps_later=False)
        values = cast(list[bytes | None], await self._redis.run("reading a session tail", lambda client: client.mget(open_key, closed_key)))
        left = [window for window in map(_unpacked, values) if window is not None]
        if not any(window.of(user).messages for window in left):
            await self._index.remove(tenant, user, session, of_tenant=not any(window.messages for window in left))

    async def _forget(self, key: str, user: str, erased_at: TailPlace, *, keeps_later: bool) -> None:
        for _ in range(_TRIES):
            written = await self._redis.read("reading a session tail", key)
            window, place = _unpacked(written), _place(written)
            is_later = place is not None and place.partition == erased_at.partition and place.offset >= erased_at.offset
            is_empty = window is None or not window.messages
            if is_later and (keeps_later or is_empty):
                return
            if window is not None and not is_empty and not window.of(user).messages:
                return
            offset = place.offset if place is not None and is_later else erased_at.offset
            left = TailWindow(-1, ()) if window is None else window.without(user)
            forgotten = b"%d/%d/%s" % (erased_at.partition, offset, _packed(left))
            kept_ms = self._ttl_ms if left.messages else _FENCE_MS
            if await self._redis.script("forgetting a session tail", _REPLACE, [key], written or b"", forgotten, kept_ms):
                return
        raise RedisUnavailableError(f"the tail in {key} is written again and again while it is to be forgotten")

    def _keys(self, tenant: str, session: str) -> tuple[str, str]:
        # The braces place both keys in the same slot of a Redis cluster.
        name = f"{{{encode_key(tenant, session).decode('ascii')}}}"
        return self._redis.key(KeyFamily.OPEN, name), self._redis.key(KeyFamily.CLOSED, name)


def _packed(window: TailWindow | None) -> bytes:
    return b"" if window is None else b"%d:[%s]" % (window.sequence, b",".join(window.messages))


def _unpacked(written: bytes | None) -> TailWindow | None:
    if written is None:
        return None
    head, _, messages = written.partition(b":")
    sequence = head.rpartition(b"/")[2]
    return TailWindow(int(sequence), tuple(orjson.dumps(message) for message in orjson.loads(messages)))


def _place(written: bytes | None) -> TailPlace | None:
    """The position in a value; None if there is no value or it has no position."""
    found = None if written is None else _PLACE.match(written)
    return None if found is None else TailPlace(int(found[1]), int(found[2]))
