"""The values of keys are kept in a real Redis, each user's apart, the latest of them."""

from dataclasses import replace

import pytest
from redis.asyncio import Redis

from runtime.redis.client import GuardedRedis
from runtime.redis.extraction_notes import MAX_VALUES, KeyScope, KeyValueNotes
from runtime.redis.keys import KeyFamily

pytestmark = pytest.mark.integration

SCOPE = KeyScope("acme", "ann", "", "topic")


async def test_values_are_kept_in_the_order_of_use(redis: GuardedRedis, client: Redis) -> None:
    notes = KeyValueNotes(redis=redis, ttl_s=60)
    await notes.add(SCOPE, ["café", "dance studio"])
    await notes.add(SCOPE, ["a/b %", "café"])
    await notes.add(SCOPE, [])
    assert await notes.latest(SCOPE) == ("dance studio", "a/b %", "café")
    (key,) = [key async for key in client.scan_iter(match=redis.key(KeyFamily.VALUES, "*"))]
    assert 0 < await client.ttl(key) <= 60


async def test_no_user_gets_values_of_another(redis: GuardedRedis) -> None:
    notes = KeyValueNotes(redis=redis)
    others = [
        replace(SCOPE, tenant="umbrella"),
        replace(SCOPE, user="bob"),
        replace(SCOPE, user=None),
        replace(SCOPE, tenant="acme/ann", user=None),
        replace(SCOPE, generation="v2"),
        replace(SCOPE, key="subject"),
    ]
    await notes.add(SCOPE, ["a secret"])
    assert [await notes.latest(each) for each in others] == [()] * len(others)


async def test_only_the_given_users_values_are_forgotten(redis: GuardedRedis) -> None:
    notes = KeyValueNotes(redis=redis)
    of_bob = replace(SCOPE, user="bob")
    for each in (SCOPE, of_bob):
        await notes.add(each, ["a secret"])
    await notes.forget(SCOPE)
    assert (await notes.latest(SCOPE), await notes.latest(of_bob)) == ((), ("a secret",))


async def test_only_the_latest_values_are_kept(redis: GuardedRedis) -> None:
    notes = KeyValueNotes(redis=redis)
    await notes.add(SCOPE, [str(number) for number in range(MAX_VALUES + 3)])
    assert await notes.latest(SCOPE) == tuple(str(number) for number in range(3, MAX_VALUES + 3))


def test_values_are_kept_for_a_second_at_least(redis: GuardedRedis) -> None:
    with pytest.raises(ValueError, match="ttl_s >= 1, got 0"):
        KeyValueNotes(redis=redis, ttl_s=0)
