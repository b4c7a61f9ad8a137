"""Idempotency keys in Redis: a request that is repeated with the same key gets the first answer."""

import hashlib
import secrets
import time
from dataclasses import dataclass
from enum import Enum
from typing import Final, cast

from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

LARGEST_ANSWER: Final = 256_000
"""In bytes. Larger answers are not cached."""
IN_WORK_S: Final = 60.0
"""If a process dies during a request, the key becomes free after this time."""

_DIGEST_BYTES: Final = 32

_BEGIN: Final = """
local found = redis.call('GET', KEYS[1])
if not found then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return found
"""

_KEEP: Final = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local ttl, now, most, size = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), #ARGV[2]
local total = tonumber(redis.call('GET', KEYS[3]) or 0)
while true do
  local oldest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  if not oldest[1] or (total + size <= most and tonumber(oldest[2]) > now - ttl) then break end
  local name, bytes = oldest[1]:match('^(.*):(%d+)$')
  redis.call('ZREM', KEYS[2], oldest[1])
  redis.call('UNLINK', ARGV[7] .. name)
  total = total - bytes
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ttl)
redis.call('ZADD', KEYS[2], now, ARGV[6] .. ':' .. size)
redis.call('PEXPIRE', KEYS[2], ttl)
redis.call('SET', KEYS[3], total + size, 'PX', ttl)
return 1
"""

_FORGET: Final = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"


class Obstacle(Enum):
    """Reason for which a request with a key is rejected."""

    IN_WORK = "another request with this key is in progress"
    OTHER_REQUEST = "this key was sent with another request"


@dataclass(frozen=True, slots=True)
class Begun:
    """A key that is reserved for a request."""

    owner: str
    name: str
    mark: bytes
    """Value in Redis while the request is in progress."""


class IdempotencyCache:
    """Cache of answers by owner and key. When an owner exceeds its byte limit, the oldest answers are deleted.

    Every method raises RedisUnavailableError while Redis is unavailable: earlier requests are unknown then.
    """

    def __init__(self, *, redis: GuardedRedis, ttl_s: float, max_bytes: int) -> None:
        if ttl_s <= 0 or max_bytes < LARGEST_ANSWER:
            raise ValueError(f"ttl_s must be above 0 and max_bytes at least {LARGEST_ANSWER}, got {ttl_s} and {max_bytes}")
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)
        self._max_bytes = max_bytes

    async def begin(self, owner: str, key: str, request: bytes) -> Begun | bytes | Obstacle:
        """Reserves a key for a request, or returns the answer of the request that used it before.

        Args:
            owner: The key's owner. Equal keys of different owners are independent.
            key: The caller's key.
            request: Bytes that identify the request.

        Returns:
            The reservation, for :meth:`keep` or :meth:`forget`; or the cached answer; or the reason for rejection.
        """
        name, digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest(), hashlib.sha256(request).digest()
        begun = Begun(owner, name, b"w" + digest + secrets.token_bytes(16))
        found: bytes | None = await self._redis.script(
            "reserving an idempotency key", _BEGIN, [self._answer_key(begun)], begun.mark, int(IN_WORK_S * 1000)
        )
        if found is None:
            return begun
        if found[1 : 1 + _DIGEST_BYTES] != digest:
            return Obstacle.OTHER_REQUEST
        return Obstacle.IN_WORK if found[:1] == b"w" else found[1 + _DIGEST_BYTES :]

    async def keep(self, begun: Begun, answer: bytes) -> bool:
        """Caches the answer to a request that was begun.

        Returns:
            False if it is too large, or if the reservation expired before the request ended.
        """
        if len(answer) > LARGEST_ANSWER:
            await self.forget(begun)
            return False
        kept = b"a" + begun.mark[1 : 1 + _DIGEST_BYTES] + answer
        keys = [
            self._answer_key(begun),
            self._redis.key(KeyFamily.ANSWERS_INDEX, begun.owner),
            self._redis.key(KeyFamily.ANSWERS_BYTES, begun.owner),
        ]
        prefix = self._redis.key(KeyFamily.ANSWERS, begun.owner, "")
        now_ms = int(time.time() * 1000)
        arguments = (begun.mark, kept, self._ttl_ms, now_ms, self._max_bytes, begun.name, prefix)
        return bool(await self._redis.script("caching an answer", _KEEP, keys, *arguments))

    async def forget(self, begun: Begun) -> None:
        """Frees the key of a request that failed, so that the caller can retry."""
        await self._redis.script("freeing an idempotency key", _FORGET, [self._answer_key(begun)], begun.mark)

    async def forget_owner(self, owner: str) -> None:
        """Deletes all answers of an owner."""
        index = self._redis.key(KeyFamily.ANSWERS_INDEX, owner)
        kept = await self._redis.run("looking up cached answers", lambda client: client.zrange(index, 0, -1))
        names = [each.decode().rpartition(":")[0] for each in cast(list[bytes], kept)]
        keys = [
            index,
            self._redis.key(KeyFamily.ANSWERS_BYTES, owner),
            *(self._redis.key(KeyFamily.ANSWERS, owner, name) for name in names),
        ]
        await self._redis.unlink("deleting cached answers", keys)

    def _answer_key(self, begun: Begun) -> str:
        return self._redis.key(KeyFamily.ANSWERS, begun.owner, begun.name)
