import pytest
from redis.asyncio import Redis

from runtime.redis.client import GuardedRedis
from runtime.redis.entity_view import EntityAsOf, EntityUpdate, EntityView
from tests.stores.factories import memory, stable_id

pytestmark = pytest.mark.integration

ID = stable_id("ann")


@pytest.fixture
def view(redis: GuardedRedis) -> EntityView:
    return EntityView(redis=redis, ttl_s=60)


def entity(version: int) -> EntityAsOf:
    return EntityAsOf(version, memory(f"Profile of ann: jobs: {version}/{version}", kind="entity", id=ID, version=version))


def update(entity: EntityAsOf, offset: int, *, partition: int = 0) -> EntityUpdate:
    return EntityUpdate("acme", ID, entity, partition, offset)


async def test_an_entity_is_readable_at_once(view: EntityView) -> None:
    assert await view.read("acme", ID) is None
    await view.write([update(entity(1), 7)])
    assert await view.read("acme", ID) == entity(1)
    assert await view.read("umbrella", ID) is None


async def test_a_late_write_does_not_replace_a_newer_one(view: EntityView) -> None:
    await view.write([update(entity(2), 9), update(entity(1), 7)])
    assert await view.read("acme", ID) == entity(2)
    await view.write([update(entity(1), 3, partition=1)])
    assert await view.read("acme", ID) == entity(1), "in another partition only if the topic was created again"


async def test_a_removed_entity_is_known_as_removed(view: EntityView) -> None:
    await view.write([update(entity(1), 7), update(EntityAsOf(2, None), 8)])
    assert await view.read("acme", ID) == EntityAsOf(2, None)


async def test_a_view_is_dropped_after_a_while(view: EntityView, redis: GuardedRedis, client: Redis) -> None:
    await view.write([update(entity(1), 7)])
    (key,) = [key async for key in client.scan_iter(redis.prefix + "*")]
    assert 0 < await client.pttl(key) <= 60_000


async def test_an_invalid_view_is_ignored(view: EntityView, redis: GuardedRedis, client: Redis) -> None:
    await view.write([update(entity(1), 7)])
    (key,) = [key async for key in client.scan_iter(redis.prefix + "*")]
    for written in (b"", b"0/7/1/{", b"0/7/x/", b"0"):
        await client.set(key, written)
        assert await view.read("acme", ID) is None


async def test_a_forgotten_view_is_no_view(view: EntityView) -> None:
    other = stable_id("bob")
    await view.write([update(entity(1), 7), EntityUpdate("acme", other, entity(1), 0, 7), EntityUpdate("umbrella", ID, entity(1), 0, 7)])
    await view.forget("acme", [ID, stable_id("never")])
    assert await view.read("acme", ID) is None
    assert [await view.read(*each) for each in (("acme", other), ("umbrella", ID))] == [entity(1)] * 2
