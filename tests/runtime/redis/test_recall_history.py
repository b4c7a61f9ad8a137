from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.redis.recall_history import RecallHistory, Returned

pytestmark = pytest.mark.integration


async def test_hashes_recalled_after_a_time_are_left_out(redis: GuardedRedis) -> None:
    history = RecallHistory(redis=redis)
    await history.add([Returned("acme", "ann", ["a", "b"])])
    now, before = datetime.now(UTC), datetime.now(UTC) - timedelta(minutes=1)

    assert await history.of("acme", "ann", until=now) == {"a", "b"}
    assert await history.of("acme", "ann", until=before) == frozenset()
    assert await history.of("acme", "ben", until=now) == frozenset()
    assert await history.of("umbrella", "ann", until=now) == frozenset()


async def test_a_second_recall_keeps_the_time_of_the_first(redis: GuardedRedis, client: Redis) -> None:
    history = RecallHistory(redis=redis)
    await history.add([Returned("acme", "ann", ["a"])])
    (key,) = [key async for key in client.scan_iter(match=redis.key(KeyFamily.RECALLED, "*"))]
    first = await client.zscore(key, "a")
    await history.add([Returned("acme", "ann", ["a", "b"])])

    assert await client.zscore(key, "a") == first


async def test_only_first_recalls_of_memories_are_counted(redis: GuardedRedis) -> None:
    history = RecallHistory(redis=redis)
    assert await history.add([Returned("acme", "ann", ["a", "b"]), Returned("acme", "ben", ["b", "c"])]) == 3
    assert await history.add([Returned("acme", "ann", ["a", "c"])]) == 0
    assert await history.add([Returned("umbrella", None, ["a"])]) == 1, "each tenant's memories are its own"


async def test_only_the_newest_hashes_are_kept(redis: GuardedRedis) -> None:
    history = RecallHistory(redis=redis, max_hashes=2)
    for content in "abc":
        await history.add([Returned("acme", "ann", [content])])

    assert await history.of("acme", "ann", until=datetime.now(UTC)) == {"b", "c"}


async def test_a_forgotten_user_has_recalled_nothing(redis: GuardedRedis) -> None:
    history = RecallHistory(redis=redis)
    await history.add([Returned("acme", "ann", ["a"]), Returned("acme", "ben", ["b"]), Returned("umbrella", "ann", ["c"])])
    await history.forget("acme", "ann")
    await history.forget("acme", "never")
    until = datetime.now(UTC)
    assert [await history.of(*each, until=until) for each in (("acme", "ann"), ("acme", "ben"), ("umbrella", "ann"))] == [
        set(),
        {"b"},
        {"c"},
    ]
