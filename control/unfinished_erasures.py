"""Whom the erasures that are under way are about, in Redis, and who is at work on them: whoever was asked may stop, and another goes on.

The control log is kept for ever and names users by a digest, from which nobody can tell whom to erase. So a name stands here before the log
says that an erasure has begun, and goes once the log has the receipt.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final, TypeVar, cast
from uuid import uuid4

import orjson
from redis.asyncio import Redis

from control import read_control
from control.erasure import Erasure, subject_of
from control.erasure_changes import require_none_under_way
from memory.times import milliseconds_of, time_of_milliseconds
from runtime.background import renewed
from runtime.errors import KafkaUnavailableError, RedisUnavailableError, TopicMissingError
from runtime.logs import logger
from runtime.lua import CLOCK
from runtime.redis import GuardedRedis
from runtime.redis_keys import KeyFamily
from runtime.settings import Settings

_log = logger(__name__)
_T = TypeVar("_T")

KEYS: Final = KeyFamily.ERASING
"""What the keys begin with. `varve rebuild` leaves them: nothing else can name who was to be erased."""

LEASE_S: Final = 30.0
"""Whoever is at work and is not heard of for so long was killed, and another may go on."""
LONGEST_PAUSE_S: Final = 3600.0
"""Behind a try that came to nothing, nobody tries again for at most so long unless somebody asks."""
CANNOT_WRITE: Final = (KafkaUnavailableError, TopicMissingError)
"""What tells of a process, and not of the erasure: it may not write the control log, or has lost Kafka. Another may do better."""
_RENEW_S: Final = LEASE_S / 3
_LEASE_MS: Final = int(LEASE_S * 1000)
_LONGEST_PAUSE_MS: Final = int(LONGEST_PAUSE_S * 1000)
_COMING_FOR: Final = timedelta(hours=1)
"""A name may stand without an erasure for so long: far longer than a change of the control log is tried, and clocks may be apart."""
_BATCH: Final = 500
"""Erasures that one script looks at."""

# It doubles with each try that comes to nothing: an erasure that kills whoever is at it must not kill them all in turn.
_PAUSE: Final = """
local function pause_ms(tries, shortest, longest) return math.min(shortest * 2 ^ (tries - 1), longest) end
"""

_TAKE: Final = (
    CLOCK
    + _PAUSE
    + """
local now, lease_ms, longest_ms, holder, asked = clock(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5] == '1'
local taken = {}
for index = 2, #KEYS do
  local key, first = KEYS[index], 6 + (index - 2) * 3
  local found = redis.call('HMGET', key, 'erasure', 'held_until', 'not_before', 'tries')
  local is_held, is_put_off = tonumber(found[2] or '0') > now, tonumber(found[3] or '0') > now
  if not is_held and (asked or (found[1] and not is_put_off)) then
    if not found[1] then
      redis.call('HSET', key, 'erasure', ARGV[first + 1], 'asked_at', ARGV[first + 2])
      redis.call('SADD', KEYS[1], ARGV[first])
    end
    local tries = asked and 1 or tonumber(found[4] or '0') + 1
    local not_before = now + pause_ms(tries, lease_ms, longest_ms)
    redis.call('HSET', key, 'holder', holder, 'held_until', now + lease_ms, 'not_before', not_before, 'tries', tries)
    table.insert(taken, index - 2)
  end
end
return taken
"""
)

_RENEW: Final = (
    CLOCK
    + """
local held_until, holder = clock(ARGV[1]) + tonumber(ARGV[2]), ARGV[3]
for _, key in ipairs(KEYS) do
  if redis.call('HGET', key, 'holder') == holder then redis.call('HSET', key, 'held_until', held_until) end
end
"""
)

_END: Final = (
    CLOCK
    + _PAUSE
    + """
local now, shortest_ms, longest_ms, holder, put_off = clock(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5] == '1'
for _, key in ipairs(KEYS) do
  if redis.call('HGET', key, 'holder') == holder then
    redis.call('HDEL', key, 'holder', 'held_until')
    if put_off then
      redis.call('HSET', key, 'not_before', now + pause_ms(tonumber(redis.call('HGET', key, 'tries')), shortest_ms, longest_ms))
    else
      redis.call('HDEL', key, 'not_before', 'tries')
    end
  end
end
"""
)

_LOOK: Final = (
    CLOCK
    + """
local now, found = clock(ARGV[1]), {}
for _, key in ipairs(KEYS) do
  local is = redis.call('HMGET', key, 'held_until', 'not_before')
  table.insert(found, tonumber(is[1] or '0') > now and 'at work' or tonumber(is[2] or '0') > now and 'put off' or 'free')
end
return found
"""
)

# Asked for once more meanwhile, it stays.
_FORGET: Final = """
for index = 2, #KEYS do
  local asked_at = redis.call('HGET', KEYS[index], 'asked_at')
  if not asked_at or tonumber(asked_at) <= tonumber(ARGV[2 * index - 2]) then
    redis.call('DEL', KEYS[index])
    redis.call('SREM', KEYS[1], ARGV[2 * index - 3])
  end
end
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedErasure:
    """One that somebody has asked for."""

    tenant: str
    user: str
    by: str
    """Who asked for it, for the audit."""
    asked_at: datetime
    """The same that the control log is told."""

    @property
    def subject(self) -> str:
        """What stands for the user in the control log."""
        return subject_of(self.tenant, self.user)

    def is_done(self, erasure: Erasure | None) -> bool:
        """Whether the control log has the receipt.

        Args:
            erasure: What it has of the user; None: nothing.
        """
        return (
            erasure is not None
            and erasure.finished_at is not None
            and milliseconds_of(erasure.requested_at) >= milliseconds_of(self.asked_at)
        )

    def is_stale(self, erasure: Erasure | None, now: datetime) -> bool:
        """Whether nobody needs the name any more: the erasure is done, or was never begun.

        Args:
            erasure: What the control log has of the user; None: nothing.
            now: The time.
        """
        if erasure is not None and erasure.finished_at is None:
            return False
        return self.is_done(erasure) or now - self.asked_at > _COMING_FOR


class Work(Enum):
    """How an erasure stands that is under way."""

    FREE = "free"
    AT_WORK = "at work"
    """Somebody is at it, or was killed a moment ago."""
    PUT_OFF = "put off"
    """It was broken off, and is tried again later."""


class ErasuresUnderWay:
    """Keeps them. Every method but :meth:`held` raises RedisUnavailableError while Redis is away: then only who was asked can go on.

    Args:
        redis: Where they are kept.
        now_ms: Tells the time, in milliseconds since the epoch; None: Redis does, so that the processes' clocks need not agree.
    """

    def __init__(self, *, redis: GuardedRedis, now_ms: Callable[[], float] | None = None) -> None:
        self._redis = redis
        self._now_ms = now_ms

    async def note(self, erasures: Sequence[NotedErasure]) -> None:
        """Keeps whom erasures are about. Comes before the control log is told: a digest alone tells nobody how to go on."""

        async def note(client: Redis) -> None:
            async with client.pipeline(transaction=True) as pipe:
                for each in erasures:
                    pipe.hset(self._key(each.subject), mapping={"erasure": _content(each), "asked_at": milliseconds_of(each.asked_at)})
                    pipe.sadd(self._index, each.subject)
                await pipe.execute()

        if erasures:
            await self._redis.run("keeping whom erasures are about", note)

    async def every(self) -> list[NotedErasure]:
        """All that are under way, without those that a newer Varve has written."""

        async def read(client: Redis) -> list[NotedErasure]:
            subjects = cast(set[bytes], await client.smembers(self._index))
            async with client.pipeline(transaction=False) as pipe:
                for each in subjects:
                    pipe.hmget(self._key(each.decode()), "erasure", "asked_at")
                contents = await pipe.execute() if subjects else []
            return [found for each in contents if (found := _noted(*each)) is not None]

        return await self._redis.run("reading whom erasures are about", read)

    async def look(self, subjects: Sequence[str]) -> dict[str, Work]:
        """How erasures stand that are under way, by the users' digests."""
        found = [
            word
            for some in _batches(subjects)
            for word in await self._script("looking who is at erasures", _LOOK, [self._key(each) for each in some])
        ]
        return {subject: Work(word.decode()) for subject, word in zip(subjects, found, strict=True)}

    async def forget(self, done: Mapping[str, datetime]) -> None:
        """Forgets erasures, but for those that were asked for once more.

        Args:
            done: When each was asked for, by the user's digest.
        """
        for some in _batches([*done]):
            keys = [self._index, *(self._key(each) for each in some)]
            arguments = [word for each in some for word in (each, milliseconds_of(done[each]))]
            await self._redis.script("forgetting whom erasures were about", _FORGET, keys, *arguments)

    @asynccontextmanager
    async def held(self, erasures: Sequence[NotedErasure], *, asked: bool) -> AsyncIterator[list[NotedErasure]]:
        """Gives those of some erasures that nobody is at, and lets nobody else take them up for the length of a block.

        A block that is cancelled, or that Kafka does not let write, leaves them to another process at once; one that fails in another way,
        for a later try. While Redis is away nobody knows of anybody: the block is given all of them, since two at work on one do no harm.

        Args:
            erasures: The erasures.
            asked: Whether somebody asks for them now. Otherwise those that are put off are left out, and those that nobody keeps here any
                more: they are done.
        """
        holder = uuid4().hex
        try:
            taken = [each for some in _batches(erasures) for each in await self._take(some, holder, asked=asked)]
        except RedisUnavailableError as error:
            _log.warning("erasures_not_held", subjects=[each.subject for each in erasures], error=str(error))
            yield [*erasures]
            return
        keys = [self._key(each.subject) for each in taken]
        renewing = renewed("erasures-renewing", lambda: self._renew(keys, holder))
        is_put_off = False
        try:
            yield taken
        except Exception as error:
            is_put_off = not isinstance(error, CANNOT_WRITE)
            raise
        finally:
            renewing.cancel()
            with suppress(RedisUnavailableError):  # they are free in a moment all the same
                await self._end(keys, holder, put_off=is_put_off)

    async def _take(self, erasures: Sequence[NotedErasure], holder: str, *, asked: bool) -> list[NotedErasure]:
        keys = [self._index, *(self._key(each.subject) for each in erasures)]
        contents = [word for each in erasures for word in (each.subject, _content(each), milliseconds_of(each.asked_at))]
        arguments = (_LEASE_MS, _LONGEST_PAUSE_MS, holder, int(asked), *contents)
        return [erasures[index] for index in await self._script("taking erasures up", _TAKE, keys, *arguments)]

    async def _renew(self, keys: Sequence[str], holder: str) -> None:
        while True:
            await asyncio.sleep(_RENEW_S)
            with suppress(RedisUnavailableError):
                for some in _batches(keys):
                    await self._script("telling that erasures go on", _RENEW, some, _LEASE_MS, holder)

    async def _end(self, keys: Sequence[str], holder: str, *, put_off: bool) -> None:
        for some in _batches(keys):
            await self._script("leaving erasures", _END, some, _LEASE_MS, _LONGEST_PAUSE_MS, holder, int(put_off))

    async def _script(self, doing: str, lua: str, keys: Sequence[str], *arguments: str | bytes | float) -> Any:
        return await self._redis.script(doing, lua, keys, "" if self._now_ms is None else self._now_ms(), *arguments)

    @property
    def _index(self) -> str:
        return self._redis.key(KeyFamily.ERASING_INDEX)

    def _key(self, subject: str) -> str:
        return self._redis.key(KeyFamily.ERASING, subject)


async def require_no_erasure(settings: Settings, what: str) -> None:
    """Returns if the control log has no erasure that is under way, of any tenant.

    Args:
        settings: Where Kafka is.
        what: What is refused otherwise, as the subject of a sentence: "a rebuild".

    Raises:
        ErasureUnderWayError: If one is under way; says which, and what to do.
        KafkaUnavailableError: If no broker answers.
    """
    require_none_under_way((await read_control(settings)).erasures.values(), what)


def _content(erasure: NotedErasure) -> bytes:
    return orjson.dumps({"tenant": erasure.tenant, "user": erasure.user, "by": erasure.by})


def _noted(content: bytes | None, asked_at: bytes | None) -> NotedErasure | None:
    try:
        asked = time_of_milliseconds(int(asked_at or b""))
        return NotedErasure(**orjson.loads(content or b""), asked_at=asked)
    except (ValueError, TypeError, OverflowError):
        return None


def _batches(items: Sequence[_T]) -> list[Sequence[_T]]:
    return [items[start : start + _BATCH] for start in range(0, len(items), _BATCH)]
