import pytest
from redis.asyncio import Redis

from runtime.redis import GuardedRedis
from runtime.session_tail import SessionTail, SessionView, TailPlace, TailUpdate, TailWindow

pytestmark = pytest.mark.integration


@pytest.fixture
def tail(redis: GuardedRedis) -> SessionTail:
    return SessionTail(redis=redis, ttl_s=60)


def window(sequence: int, *texts: str) -> TailWindow:
    return TailWindow(sequence, tuple(b'{"text":"%s"}' % text.encode() for text in texts))


async def test_an_unknown_session_is_empty(tail: SessionTail) -> None:
    assert await tail.read("acme", "s") == SessionView()


async def test_an_open_window_is_readable_at_once(tail: SessionTail) -> None:
    view = SessionView(open=window(0, "a:b", "c,d"))
    await tail.write([TailUpdate("acme", "s", view, 0, 0)])
    assert await tail.read("acme", "s") == view


async def test_a_tail_tells_how_far_it_reaches(tail: SessionTail) -> None:
    assert (await tail.read("acme", "s")).place is None
    await tail.write([TailUpdate("acme", "s", SessionView(closed=window(0, "a")), 3, 7)])
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(1, "b")), 3, 9)])
    view = await tail.read("acme", "s")
    assert view.place == TailPlace(3, 9)
    assert view.messages == (*window(0, "a").messages, *window(1, "b").messages)


def test_a_users_view_tells_nothing_of_others_windows() -> None:
    anns, bobs = (TailWindow(number, (b'{"user":"%s"}' % user,)) for number, user in enumerate((b"ann", b"bob")))
    view = SessionView(closed=anns, open=bobs, place=TailPlace(3, 9))
    assert view.of(None) == view
    assert (view.of("ann").closed, view.of("ann").open, view.of("ann").place) == (anns, None, view.place)
    assert (view.of("bob").closed, view.of("bob").open, view.of("bob").place) == (None, bobs, view.place)
    anonymized = view.of("carol")
    assert (anonymized, anonymized.place) == (SessionView(), None)


async def test_a_repeated_write_changes_nothing(tail: SessionTail) -> None:
    update = TailUpdate("acme", "s", SessionView(open=window(0, "a")), 0, 0)
    await tail.write([update, update])
    assert await tail.read("acme", "s") == update.view


async def test_a_closed_window_stays_readable_beside_the_next(tail: SessionTail) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(0, "a", "b")), 0, 0)])
    await tail.write([TailUpdate("acme", "s", SessionView(closed=window(0, "a", "b")), 0, 0)])
    assert await tail.read("acme", "s") == SessionView(closed=window(0, "a", "b"))
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(1, "c")), 0, 0)])
    assert await tail.read("acme", "s") == SessionView(closed=window(0, "a", "b"), open=window(1, "c"))


async def test_a_late_write_does_not_reopen_a_window(tail: SessionTail) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(closed=window(3, "a")), 0, 0)])
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(3, "a")), 0, 0)])
    assert (await tail.read("acme", "s")).open is None


async def test_sessions_and_tenants_keep_apart(tail: SessionTail) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(0, "a")), 0, 0)])
    assert await tail.read("acme", "s/1") == SessionView()
    assert await tail.read("other", "s") == SessionView()


async def test_tails_are_dropped_after_a_while(tail: SessionTail, redis: GuardedRedis, client: Redis) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(0, "a"), closed=window(0, "a")), 0, 0)])
    keys = [key async for key in client.scan_iter(redis.prefix + "*")]
    assert len(keys) == 2
    for key in keys:
        assert 0 < await client.pttl(key) <= 60_000


async def test_a_late_write_of_a_zombie_changes_nothing(tail: SessionTail) -> None:
    newer = SessionView(closed=window(3, "c"), open=window(4, "d"))
    await tail.write([TailUpdate("acme", "s", newer, 2, 60)])
    older = SessionView(closed=window(2, "b"), open=window(5, "stale"))
    await tail.write([TailUpdate("acme", "s", older, 2, 59), TailUpdate("acme", "other", older, 2, 59)])
    assert await tail.read("acme", "s") == newer
    assert await tail.read("acme", "other") == older


async def test_an_emptied_window_is_not_filled_again(tail: SessionTail) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(closed=window(0, "a"), open=window(1)), 0, 9)])
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(1, "stale")), 0, 8)])
    assert await tail.read("acme", "s") == SessionView(closed=window(0, "a"))


async def test_another_partition_holds_up_no_tail(tail: SessionTail) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(0, "a")), 1, 900)])
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(0, "b")), 2, 0)])
    assert await tail.read("acme", "s") == SessionView(open=window(0, "b"))


async def test_a_tail_without_a_place_is_replaced(tail: SessionTail, redis: GuardedRedis, client: Redis) -> None:
    old = SessionView(open=window(7, "a:b"))
    await tail.write([TailUpdate("acme", "s", old, 0, 5)])
    [key] = [key async for key in client.scan_iter(redis.prefix + "*")]
    written = await client.get(key)
    assert isinstance(written, bytes)
    await client.set(key, written.removeprefix(b"0/5/"))
    assert await tail.read("acme", "s") == old
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(8, "c")), 0, 0)])
    assert await tail.read("acme", "s") == SessionView(open=window(8, "c"))


async def test_a_forgotten_session_is_unknown(tail: SessionTail, redis: GuardedRedis, client: Redis) -> None:
    for tenant, session in (("acme", "s"), ("acme", "s2"), ("umbrella", "s")):
        await tail.write([TailUpdate(tenant, session, SessionView(closed=window(0, "a"), open=window(1, "b")), 0, 0)])
    before = {key async for key in client.scan_iter(match=redis.prefix + "*")}
    await tail.forget("acme", "s")
    await tail.forget("acme", "never")
    assert await tail.read("acme", "s") == SessionView()
    assert [(await tail.read(*each)).closed for each in (("acme", "s2"), ("umbrella", "s"))] == [window(0, "a")] * 2
    assert len(before) - len({key async for key in client.scan_iter(match=redis.prefix + "*")}) == len(before) // 3
