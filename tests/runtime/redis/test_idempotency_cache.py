"""Answers that are kept for requests sent again."""

import asyncio

import pytest
from redis.asyncio import Redis

from runtime.errors import RedisUnavailableError
from runtime.redis.client import GuardedRedis
from runtime.redis.idempotency_cache import LARGEST_ANSWER, Begun, IdempotencyCache, Obstacle
from runtime.redis.keys import KeyFamily

pytestmark = pytest.mark.integration

DAY_S = 86400.0


@pytest.fixture
def answers(redis: GuardedRedis) -> IdempotencyCache:
    return IdempotencyCache(redis=redis, ttl_s=DAY_S, max_bytes=LARGEST_ANSWER)


async def begun(answers: IdempotencyCache, owner: str, key: str, request: bytes = b"POST") -> Begun:
    found = await answers.begin(owner, key, request)
    assert isinstance(found, Begun)
    return found


async def test_a_key_leads_to_one_answer(answers: IdempotencyCache) -> None:
    first = await begun(answers, "acme", "k")
    assert await answers.begin("acme", "k", b"POST") is Obstacle.IN_WORK
    assert await answers.keep(first, b"answer")
    assert await answers.begin("acme", "k", b"POST") == b"answer"
    assert await answers.begin("acme", "k", b"POST other") is Obstacle.OTHER_REQUEST


async def test_one_of_many_at_once_takes_the_key(answers: IdempotencyCache) -> None:
    outcomes = await asyncio.gather(*(answers.begin("acme", "k", b"POST") for _ in range(20)))
    assert sum(isinstance(each, Begun) for each in outcomes) == 1
    assert outcomes.count(Obstacle.IN_WORK) == 19


async def test_another_owners_key_is_another(answers: IdempotencyCache) -> None:
    await answers.keep(await begun(answers, "acme", "k"), b"acme's")
    await begun(answers, "umbrella", "k")


async def test_a_forgotten_key_is_free_again(answers: IdempotencyCache) -> None:
    await answers.forget(await begun(answers, "acme", "k"))
    await begun(answers, "acme", "k", b"another request")


async def test_an_owners_answers_are_forgotten_together(answers: IdempotencyCache, redis: GuardedRedis, client: Redis) -> None:
    for owner, key in (("acme/ann", "k"), ("acme/ann", "l"), ("acme", "k"), ("acme/anna", "k")):
        assert await answers.keep(await begun(answers, owner, key), b"to " + owner.encode())
    await answers.forget_owner("acme/ann")
    await answers.forget_owner("acme/nobody")
    assert [each async for each in client.scan_iter(match=redis.prefix + "*acme/ann*") if b"acme/anna" not in each] == []
    await begun(answers, "acme/ann", "k")
    assert await answers.begin("acme", "k", b"POST") == b"to acme"
    assert await answers.begin("acme/anna", "k", b"POST") == b"to acme/anna"


async def test_a_process_that_lost_the_key_changes_nothing(answers: IdempotencyCache, redis: GuardedRedis, client: Redis) -> None:
    late = await begun(answers, "acme", "k")
    await client.delete(redis.key(KeyFamily.ANSWERS, "acme", late.name))
    await answers.keep(await begun(answers, "acme", "k"), b"newer")
    assert not await answers.keep(late, b"late")
    await answers.forget(late)
    assert await answers.begin("acme", "k", b"POST") == b"newer"


async def test_only_the_newest_bytes_of_an_owner_stay(answers: IdempotencyCache) -> None:
    for number in range(4):
        assert await answers.keep(await begun(answers, "acme", str(number)), b"x" * (LARGEST_ANSWER // 2 - 100))
    await answers.keep(await begun(answers, "umbrella", "0"), b"small")
    for number in (0, 1):
        await begun(answers, "acme", str(number))
    for owner, number in (("acme", 2), ("acme", 3), ("umbrella", 0)):
        assert isinstance(await answers.begin(owner, str(number), b"POST"), bytes)


async def test_a_large_answer_is_not_kept(answers: IdempotencyCache) -> None:
    assert not await answers.keep(await begun(answers, "acme", "k"), b"x" * (LARGEST_ANSWER + 1))
    await begun(answers, "acme", "k")


async def test_all_that_is_kept_expires(redis: GuardedRedis, client: Redis) -> None:
    answers = IdempotencyCache(redis=redis, ttl_s=DAY_S, max_bytes=LARGEST_ANSWER)
    await answers.keep(await begun(answers, "acme", "k"), b"answer")
    await begun(answers, "acme", "in work")
    keys = [key async for key in client.scan_iter(match=redis.prefix + "answers*")]
    assert len(keys) == 4
    for key in keys:
        assert 0 < await client.pttl(key) <= DAY_S * 1000


async def test_an_expired_answer_is_replaced_by_a_newer(redis: GuardedRedis, client: Redis) -> None:
    answers = IdempotencyCache(redis=redis, ttl_s=DAY_S, max_bytes=LARGEST_ANSWER)
    first = await begun(answers, "acme", "k")
    await answers.keep(first, b"first")
    index = redis.key(KeyFamily.ANSWERS_INDEX, "acme")
    # As if a day had passed.
    await client.delete(redis.key(KeyFamily.ANSWERS, "acme", first.name))
    await client.zunionstore(index, {index: 0})
    assert await answers.keep(await begun(answers, "acme", "k"), b"longer than the first")
    assert await answers.begin("acme", "k", b"POST") == b"longer than the first"
    assert await client.zcard(index) == 1


async def test_without_redis_nothing_is_known() -> None:
    answers = IdempotencyCache(redis=GuardedRedis(client=None, prefix="p"), ttl_s=1, max_bytes=LARGEST_ANSWER)
    with pytest.raises(RedisUnavailableError):
        await answers.begin("acme", "k", b"POST")
