"""Users of unfinished erasures, in Redis, with leases of the processes that carry them out: if one stops, another one resumes.

The control log is kept forever and contains only digests of users, which do not suffice to run an erasure. Therefore the name is
stored here before the log records the start of the erasure, and deleted once the log has the receipt.
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
from control.erasure_changes import require_none_unfinished
from memory.times import milliseconds_of, time_of_milliseconds
from runtime.background import start_renewal
from runtime.errors import KafkaUnavailableError, RedisUnavailableError, TopicMissingError
from runtime.logs import logger
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.redis.lua import CLOCK
from runtime.settings import Settings

_log = logger(__name__)
_T = TypeVar("_T")

KEYS: Final = KeyFamily.ERASING
"""Prefix of the keys. `varve rebuild` keeps them, because the users' names are stored nowhere else."""

LEASE_S: Final = 30.0
"""Lease of a process on an erasure. When it expires, the process counts as killed and another one may resume."""
LONGEST_PAUSE_S: Final = 3600.0
"""Maximum pause after a failed attempt, unless the erasure is requested again."""
CANNOT_WRITE: Final = (KafkaUnavailableError, TopicMissingError)
"""Errors of the process, not of the erasure: it cannot write the control log, or has lost Kafka. Another process may succeed."""
_RENEW_S: Final = LEASE_S / 3
_LEASE_MS: Final = int(LEASE_S * 1000)
_LONGEST_PAUSE_MS: Final = int(LONGEST_PAUSE_S * 1000)
_COMING_FOR: Final = timedelta(hours=1)
"""Lifetime of a name without an erasure: much longer than the retries of a change of the control log, even if clocks differ."""
_BATCH: Final = 500
"""Erasures per script call."""

# The pause doubles with each failed attempt: an erasure that kills its process must not kill all processes in turn.
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

# An erasure that was requested again meanwhile is kept.
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
class ErasureRequest:
    """A requested erasure."""

    tenant: str
    user: str
    by: str
    """The actor, for the audit log."""
    asked_at: datetime
    """Time of the request, as in the control log."""

    @property
    def subject(self) -> str:
        """Digest of the user in the control log."""
        return subject_of(self.tenant, self.user)

    def is_done(self, erasure: Erasure | None) -> bool:
        """Whether the control log has the receipt."""
        return (
            erasure is not None
            and erasure.finished_at is not None
            and milliseconds_of(erasure.requested_at) >= milliseconds_of(self.asked_at)
        )

    def is_stale(self, erasure: Erasure | None, now: datetime) -> bool:
        """Whether the name is no longer needed, because the erasure is done or was never begun."""
        if erasure is not None and erasure.finished_at is None:
            return False
        return self.is_done(erasure) or now - self.asked_at > _COMING_FOR


class WorkState(Enum):
    """State of an unfinished erasure."""

    FREE = "free"
    AT_WORK = "at work"
    """A process is working on it, or was killed recently."""
    PUT_OFF = "put off"
    """An attempt failed; it will be retried later."""


class UnfinishedErasures:
    """Stores unfinished erasures. While Redis is unavailable, every method except :meth:`held` raises RedisUnavailableError.

    Args:
        now_ms: The clock, in milliseconds since the epoch. Default: Redis's clock, so that the processes' clocks need not agree.
    """

    def __init__(self, *, redis: GuardedRedis, now_ms: Callable[[], float] | None = None) -> None:
        self._redis = redis
        self._now_ms = now_ms

    async def note(self, erasures: Sequence[ErasureRequest]) -> None:
        """Stores the users of erasures. Call it before writing the control log, whose digests do not suffice to resume."""

        async def note(client: Redis) -> None:
            async with client.pipeline(transaction=True) as pipe:
                for erasure in erasures:
                    pipe.hset(
                        self._key(erasure.subject), mapping={"erasure": _content(erasure), "asked_at": milliseconds_of(erasure.asked_at)}
                    )
                    pipe.sadd(self._index, erasure.subject)
                await pipe.execute()

        if erasures:
            await self._redis.run("storing erasures", note)

    async def every(self) -> list[ErasureRequest]:
        """All unfinished erasures, except those written by a newer version of Varve."""

        async def read(client: Redis) -> list[ErasureRequest]:
            subjects = cast(set[bytes], await client.smembers(self._index))
            async with client.pipeline(transaction=False) as pipe:
                for each in subjects:
                    pipe.hmget(self._key(each.decode()), "erasure", "asked_at")
                contents = await pipe.execute() if subjects else []
            return [found for each in contents if (found := _noted(*each)) is not None]

        return await self._redis.run("reading erasures", read)

    async def look(self, subjects: Sequence[str]) -> dict[str, WorkState]:
        """States of unfinished erasures, by the users' digests."""
        found = [
            word
            for some in _batches(subjects)
            for word in await self._script("reading the states of erasures", _LOOK, [self._key(each) for each in some])
        ]
        return {subject: WorkState(word.decode()) for subject, word in zip(subjects, found, strict=True)}

    async def forget(self, done: Mapping[str, datetime]) -> None:
        """Deletes finished erasures, except those that were requested again."""
        for some in _batches([*done]):
            keys = [self._index, *(self._key(each) for each in some)]
            arguments = [word for each in some for word in (each, milliseconds_of(done[each]))]
            await self._redis.script("deleting erasures", _FORGET, keys, *arguments)

    @asynccontextmanager
    async def held(self, erasures: Sequence[ErasureRequest], *, asked: bool) -> AsyncIterator[list[ErasureRequest]]:
        """Takes the leases of those erasures that no process is working on, for the length of a block.

        If the block is cancelled or cannot write to Kafka, another process may resume at once; after other errors the erasures are retried
        later. While Redis is unavailable the block gets all of them, because concurrent work on an erasure is harmless.

        Args:
            erasures: The erasures.
            asked: Whether they are requested now. Otherwise erasures that wait for a retry, and finished ones, are left out.
        """
        holder = uuid4().hex
        try:
            taken = [each for some in _batches(erasures) for each in await self._take(some, holder, asked=asked)]
        except RedisUnavailableError as error:
            _log.warning("erasures_not_leased", subjects=[each.subject for each in erasures], error=str(error))
            yield [*erasures]
            return
        keys = [self._key(each.subject) for each in taken]
        renewing = start_renewal("erasures-renewing", lambda: self._renew(keys, holder))
        is_put_off = False
        try:
            yield taken
        except Exception as error:
            is_put_off = not isinstance(error, CANNOT_WRITE)
            raise
        finally:
            renewing.cancel()
            with suppress(RedisUnavailableError):  # the leases expire soon anyway
                await self._end(keys, holder, put_off=is_put_off)

    async def _take(self, erasures: Sequence[ErasureRequest], holder: str, *, asked: bool) -> list[ErasureRequest]:
        keys = [self._index, *(self._key(each.subject) for each in erasures)]
        contents = [word for each in erasures for word in (each.subject, _content(each), milliseconds_of(each.asked_at))]
        arguments = (_LEASE_MS, _LONGEST_PAUSE_MS, holder, int(asked), *contents)
        return [erasures[index] for index in await self._script("taking leases of erasures", _TAKE, keys, *arguments)]

    async def _renew(self, keys: Sequence[str], holder: str) -> None:
        while True:
            await asyncio.sleep(_RENEW_S)
            with suppress(RedisUnavailableError):
                for some in _batches(keys):
                    await self._script("renewing leases of erasures", _RENEW, some, _LEASE_MS, holder)

    async def _end(self, keys: Sequence[str], holder: str, *, put_off: bool) -> None:
        for some in _batches(keys):
            await self._script("releasing erasures", _END, some, _LEASE_MS, _LONGEST_PAUSE_MS, holder, int(put_off))

    async def _script(self, doing: str, lua: str, keys: Sequence[str], *arguments: str | bytes | float) -> Any:
        return await self._redis.script(doing, lua, keys, "" if self._now_ms is None else self._now_ms(), *arguments)

    @property
    def _index(self) -> str:
        return self._redis.key(KeyFamily.ERASING_INDEX)

    def _key(self, subject: str) -> str:
        return self._redis.key(KeyFamily.ERASING, subject)


async def require_no_erasure(settings: Settings, what: str) -> None:
    """Checks that no tenant has an unfinished erasure.

    Args:
        settings: The settings, with Kafka's address.
        what: The action that must wait, as the subject of a sentence: "a rebuild".

    Raises:
        ErasureUnderWayError: If there is one; names it and the remedy.
        KafkaUnavailableError: If no broker answers.
    """
    require_none_unfinished((await read_control(settings)).erasures.values(), what)


def _content(erasure: ErasureRequest) -> bytes:
    return orjson.dumps({"tenant": erasure.tenant, "user": erasure.user, "by": erasure.by})


def _noted(content: bytes | None, asked_at: bytes | None) -> ErasureRequest | None:
    try:
        asked = time_of_milliseconds(int(asked_at or b""))
        return ErasureRequest(**orjson.loads(content or b""), asked_at=asked)
    except (ValueError, TypeError, OverflowError):
        return None


def _batches(items: Sequence[_T]) -> list[Sequence[_T]]:
    return [items[start : start + _BATCH] for start in range(0, len(items), _BATCH)]
