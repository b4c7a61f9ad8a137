from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from runtime.redis.client import GuardedRedis
from runtime.redis.retrieval_counts import RetrievalCounts, Retrievals, Retrieved

pytestmark = pytest.mark.integration

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


async def test_each_return_is_counted_with_its_time(redis: GuardedRedis) -> None:
    counts = RetrievalCounts(redis=redis)
    later = NOON + timedelta(hours=1)
    await counts.add([Retrieved("acme", ["a", "b"], NOON), Retrieved("acme", ["a"], later), Retrieved("acme", [], later)])
    assert await counts.of("acme", ["a", "b", "c"]) == {"a": Retrievals(2, later), "b": Retrievals(1, NOON)}
    assert await counts.of("umbrella", ["a"]) == {}
    assert await counts.of("acme", []) == {}


async def test_only_the_newest_returned_are_kept(redis: GuardedRedis, client: Redis) -> None:
    counts = RetrievalCounts(redis=redis, most=2, ttl_s=60)
    await counts.add([Retrieved("acme", [each], NOON + timedelta(seconds=place)) for place, each in enumerate("abca")])
    assert set(await counts.of("acme", ["a", "b", "c"])) == {"a", "c"}
    keys = [key async for key in client.scan_iter(match=redis.prefix + "returned*")]
    assert [await client.zcard(key) for key in keys] == [2, 2]
    assert [0 < await client.ttl(key) <= 60 for key in keys] == [True, True]


@pytest.mark.parametrize(("most", "ttl_s"), [(0, 60.0), (1, 0.0)])
def test_bounds_have_to_be_positive(redis: GuardedRedis, most: int, ttl_s: float) -> None:
    with pytest.raises(ValueError, match="most"):
        RetrievalCounts(redis=redis, most=most, ttl_s=ttl_s)
