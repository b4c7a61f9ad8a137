"""Tokens, cost and calls under keys of Redis, which all workers add to; never more than a limit."""

from collections.abc import Sequence
from typing import Any, Final, cast

from redis.asyncio import Redis

from models.llm.budget import Amount, Limit, Spent
from runtime.redis.client import GuardedRedis

# A missing count may have been evicted or dropped: the last known count replaces it, so that it never starts again at 0. A Redis that lost
# the reservations must not go below zero when the calls are settled.
_ADD: Final = """
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], 'tokens', ARGV[7], 'cost', ARGV[8], 'calls', ARGV[9])
end
local most_tokens, most_cost = tonumber(ARGV[4]), tonumber(ARGV[5])
local tokens = tonumber(redis.call('HGET', KEYS[1], 'tokens') or '0')
local cost = tonumber(redis.call('HGET', KEYS[1], 'cost') or '0')
local fits = (most_tokens < 0 or tokens + tonumber(ARGV[1]) <= most_tokens) and (most_cost < 0 or cost + tonumber(ARGV[2]) <= most_cost)
local function add(name, amount)
  if tonumber(redis.call('HINCRBYFLOAT', KEYS[1], name, amount)) < 0 then redis.call('HSET', KEYS[1], name, '0') end
end
if fits then
  add('tokens', ARGV[1])
  add('cost', ARGV[2])
  add('calls', ARGV[3])
end
if tonumber(ARGV[6]) > 0 then redis.call('EXPIRE', KEYS[1], ARGV[6]) end
local found = redis.call('HMGET', KEYS[1], 'tokens', 'cost', 'calls')
return {fits and 1 or 0, found[1], found[2], found[3]}
"""
_NO_LIMIT: Final = Limit()


async def add_to_count(
    redis: GuardedRedis, key: str, added: Amount, *, calls: int = 0, known: Spent, most: Limit = _NO_LIMIT, ttl_s: int = 0
) -> tuple[bool, Spent]:
    """Adds to a count, unless the sum would exceed a limit.

    Args:
        redis: Has the count.
        key: Its key.
        added: Tokens and cost; negative to return what a call did not use.
        calls: Calls.
        known: The last known count; it replaces one that Redis has lost.
        most: The limits of the sum.
        ttl_s: How long the count is kept after this change, in seconds. 0: forever.

    Returns:
        Whether it was added, and the count.

    Raises:
        RedisUnavailableError: If Redis is unavailable.
    """
    limits = (-1 if each is None else each for each in most)
    counted = (known.amount.tokens, known.amount.cost, known.calls)
    found = await redis.script("counting a budget", _ADD, [key], added.tokens, added.cost, calls, *limits, ttl_s, *counted)
    return bool(int(found[0])), _spent(found[1:])


async def read_counts(redis: GuardedRedis, keys: Sequence[str]) -> list[Spent | None]:
    """The counts under keys, in their order; None for a count that Redis does not have.

    Raises:
        RedisUnavailableError: If Redis is unavailable.
    """

    async def read(client: Redis) -> list[list[bytes | None]]:
        async with client.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.hmget(key, ["tokens", "cost", "calls"])
            return cast(list[list[bytes | None]], await pipe.execute())

    found = await redis.run("reading budgets", read) if keys else []
    return [None if each[0] is None else _spent(each) for each in found]


def _spent(found: Sequence[Any]) -> Spent:
    tokens, cost, calls = (float(each or 0) for each in found)
    return Spent(Amount(tokens, cost), int(calls))
