"""Recent patches of windows are stored in a real Redis, by the positions of the windows."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis

from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.redis.recent_patches import MAX_WINDOWS, RecentPatch, RecentPatchStore, WindowPlace

pytestmark = pytest.mark.integration

PLACE = WindowPlace("acme", "ann", "", 1, 10)


def line(text: str) -> RecentPatch:
    return RecentPatch(
        entity_type="person",
        entity_key="ann",
        field="notes",
        removed=("old é",),
        added=(text,),
        event_time=datetime(2024, 5, 6, 12, tzinfo=UTC),
        message_ids=("m",),
    )


async def test_a_window_gets_the_patches_of_earlier_windows(redis: GuardedRedis, client: Redis) -> None:
    notes = RecentPatchStore(redis=redis, ttl_s=60)
    for offset in (12, 9, 10, 11):
        await notes.add(replace(PLACE, offset=offset), [line(f"{offset}"), line(f"{offset} too")])
    assert await notes.before(PLACE) == (line("9"), line("9 too"))
    assert [each.added[0] for each in await notes.before(replace(PLACE, offset=12))] == ["9", "9 too", "10", "10 too", "11", "11 too"]
    others = {"user": "bob"}, {"tenant": "umbrella"}, {"generation": "v2"}, {"partition": 2}
    assert [await notes.before(replace(PLACE, offset=99, **other)) for other in others] == [(), (), (), ()]
    (key,) = [key async for key in client.scan_iter(match=redis.key(KeyFamily.RECENT_PATCHES, "*"))]
    assert 0 < await client.ttl(key) <= 60


async def test_a_window_extracted_again_replaces_its_patches(redis: GuardedRedis) -> None:
    notes = RecentPatchStore(redis=redis)
    later = replace(PLACE, offset=99)
    await notes.add(PLACE, [line("first")])
    await notes.add(PLACE, [line("second")])
    assert await notes.before(later) == (line("second"),)
    await notes.add(PLACE, [])
    assert await notes.before(later) == ()


async def test_only_a_users_latest_windows_are_kept(redis: GuardedRedis) -> None:
    notes = RecentPatchStore(redis=redis)
    for offset in range(MAX_WINDOWS + 3):
        await notes.add(replace(PLACE, offset=offset), [line(str(offset))])
    kept = await notes.before(replace(PLACE, offset=10_000))
    assert [each.added[0] for each in kept] == [str(offset) for offset in range(3, MAX_WINDOWS + 3)]


async def test_a_forgotten_users_windows_have_no_patches(redis: GuardedRedis) -> None:
    notes, later = RecentPatchStore(redis=redis), replace(PLACE, offset=99)
    others = [replace(later, user="bob"), replace(later, tenant="umbrella"), replace(later, generation="v2")]
    for place in (later, *others):
        for offset in (9, 10):
            await notes.add(replace(place, offset=offset), [line(str(offset))])
    await notes.forget(replace(PLACE, offset=0))
    await notes.forget(replace(PLACE, user="never"))
    assert await notes.before(later) == ()
    assert [await notes.before(place) for place in others] == [(line("9"), line("10"))] * 3


async def test_patches_of_wrong_messages_are_removed(redis: GuardedRedis) -> None:
    notes, late = RecentPatchStore(redis=redis, ttl_s=60), replace(PLACE, offset=99)
    await notes.add(replace(PLACE, offset=1), [line("right")])
    await notes.add(replace(PLACE, offset=2), [replace(line("wrong"), message_ids=("m2", "m3"))])
    await notes.forget_messages(PLACE, {"m3", "never"})
    assert await notes.before(late) == (line("right"),)


async def test_patches_to_forgotten_entities_are_removed(redis: GuardedRedis) -> None:
    """Lines of an entity may quote another user, whichever user has patched them."""
    notes = RecentPatchStore(redis=redis, ttl_s=60)
    places = [replace(PLACE, user=user, offset=offset) for user in ("bob", "eve") for offset in (1, 2)]
    for place in places:
        key = "shared" if place.offset == 1 else "own"
        await notes.add(place, [replace(line(place.user), entity_key=key)])
    elsewhere = replace(PLACE, tenant="umbrella", offset=1)
    await notes.add(elsewhere, [replace(line("theirs"), entity_key="shared")])
    await notes.forget_entities("acme", {("person", "shared"), ("tool", "own")})
    for user in ("bob", "eve"):
        assert [each.entity_key for each in await notes.before(replace(PLACE, user=user, offset=99))] == ["own"]
    assert len(await notes.before(replace(elsewhere, offset=99))) == 1
