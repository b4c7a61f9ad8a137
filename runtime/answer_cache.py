"""Answers to requests that bore a key of their caller's, in Redis: a request sent again under its key gets the first one's answer."""

import hashlib
import secrets
import time
from dataclasses import dataclass
from enum import Enum
from typing import Final, cast

from runtime.redis import GuardedRedis
from runtime.redis_keys import KeyFamily

LARGEST_ANSWER: Final = 256_000
"""In bytes; a larger one is not kept."""
IN_WORK_S: Final = 60.0
"""A process that dies over a request leaves its key taken for so long."""

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
    """Why a request is not carried out under its key."""

    IN_WORK = "another request with this key is in work"
    OTHER_REQUEST = "this key was sent with another request"


@dataclass(frozen=True, slots=True)
class Begun:
    """A key that was taken for a request."""

    owner: str
    name: str
    mark: bytes
    """What stands in Redis while it is in work."""


class KeptAnswers:
    """The answers of a day, by owner and key; of an owner at most so many bytes, the newest.

    Every method raises RedisUnavailableError while Redis is away: nothing is known then of earlier requests.

    Args:
        redis: Where the answers are kept.
        ttl_s: How long each is kept, in seconds.
        max_bytes: Of one owner's answers.
    """

    def __init__(self, *, redis: GuardedRedis, ttl_s: float, max_bytes: int) -> None:
        if ttl_s <= 0 or max_bytes < LARGEST_ANSWER:
            raise ValueError(f"ttl_s must be above 0 and max_bytes at least {LARGEST_ANSWER}, got {ttl_s} and {max_bytes}")
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)
        self._max_bytes = max_bytes

    async def begin(self, owner: str, key: str, request: bytes) -> Begun | bytes | Obstacle:
        """Takes a key for a request, or finds what became of the one that had it.

        Args:
            owner: Whose key it is: no other owner's is the same.
            key: As the caller gave it.
            request: What makes the request this one and no other.

        Returns:
            What to :meth:`keep` or to :meth:`forget`; or the answer that was kept; or why there is none.
        """
        name, digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest(), hashlib.sha256(request).digest()
        begun = Begun(owner, name, b"w" + digest + secrets.token_bytes(16))
        found: bytes | None = await self._redis.script(
            "taking an idempotency key", _BEGIN, [self._answer_key(begun)], begun.mark, int(IN_WORK_S * 1000)
        )
        if found is None:
            return begun
        if found[1 : 1 + _DIGEST_BYTES] != digest:
            return Obstacle.OTHER_REQUEST
        return Obstacle.IN_WORK if found[:1] == b"w" else found[1 + _DIGEST_BYTES :]

    async def keep(self, begun: Begun, answer: bytes) -> bool:
        """Keeps the answer to a request that was begun.

        Returns:
            False if it is too large, or the request took so long that its key was free again.
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
        return bool(await self._redis.script("keeping an answer", _KEEP, keys, *arguments))

    async def forget(self, begun: Begun) -> None:
        """Frees the key of a request that came to nothing, so that it can be sent again."""
        await self._redis.script("freeing an idempotency key", _FORGET, [self._answer_key(begun)], begun.mark)

    async def forget_owner(self, owner: str) -> None:
        """Forgets all answers of an owner."""
        index = self._redis.key(KeyFamily.ANSWERS_INDEX, owner)
        kept = await self._redis.run("looking kept answers up", lambda client: client.zrange(index, 0, -1))
        names = [each.decode().rpartition(":")[0] for each in cast(list[bytes], kept)]
        keys = [
            index,
            self._redis.key(KeyFamily.ANSWERS_BYTES, owner),
            *(self._redis.key(KeyFamily.ANSWERS, owner, name) for name in names),
        ]
        await self._redis.run("forgetting kept answers", lambda client: client.unlink(*keys))

    def _answer_key(self, begun: Begun) -> str:
        return self._redis.key(KeyFamily.ANSWERS, begun.owner, begun.name)
