import pytest
from redis.asyncio import Redis

from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.redis.session_tail import SessionTail, SessionView, TailPlace, TailUpdate, TailWindow

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


async def test_a_tail_reports_its_newest_position(tail: SessionTail) -> None:
    assert (await tail.read("acme", "s")).place is None
    await tail.write([TailUpdate("acme", "s", SessionView(closed=window(0, "a")), 3, 7)])
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(1, "b")), 3, 9)])
    view = await tail.read("acme", "s")
    assert view.place == TailPlace(3, 9)
    assert view.messages == (*window(0, "a").messages, *window(1, "b").messages)


def test_a_users_view_hides_other_users_windows() -> None:
    anns, bobs = (TailWindow(number, (b'{"user":"%s"}' % user,)) for number, user in enumerate((b"ann", b"bob")))
    view = SessionView(closed=anns, open=bobs, place=TailPlace(3, 9))
    assert view.of(None) == view
    assert (view.of("ann").closed, view.of("ann").open, view.of("ann").place) == (anns, None, view.place)
    assert (view.of("bob").closed, view.of("bob").open, view.of("bob").place) == (None, bobs, view.place)
    carols = view.of("carol")
    assert (carols, carols.place) == (SessionView(), None)


async def test_a_repeated_write_changes_nothing(tail: SessionTail) -> None:
    update = TailUpdate("acme", "s", SessionView(open=window(0, "a")), 0, 0)
    await tail.write([update, update])
    assert await tail.read("acme", "s") == update.view


async def test_a_closed_window_stays_readable_next_to_its_successor(tail: SessionTail) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(0, "a", "b")), 0, 0)])
    await tail.write([TailUpdate("acme", "s", SessionView(closed=window(0, "a", "b")), 0, 0)])
    assert await tail.read("acme", "s") == SessionView(closed=window(0, "a", "b"))
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(1, "c")), 0, 0)])
    assert await tail.read("acme", "s") == SessionView(closed=window(0, "a", "b"), open=window(1, "c"))


async def test_a_late_write_does_not_reopen_a_window(tail: SessionTail) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(closed=window(3, "a")), 0, 0)])
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(3, "a")), 0, 0)])
    assert (await tail.read("acme", "s")).open is None


async def test_sessions_and_tenants_are_separated(tail: SessionTail) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(0, "a")), 0, 0)])
    assert await tail.read("acme", "s/1") == SessionView()
    assert await tail.read("other", "s") == SessionView()


async def test_tails_are_dropped_after_a_while(tail: SessionTail, redis: GuardedRedis, client: Redis) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(0, "a"), closed=window(0, "a")), 0, 0)])
    keys = [key async for key in client.scan_iter(redis.prefix + "*")]
    assert len(keys) == 3, "two windows, and the list of sessions"
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
    [key] = [key async for key in client.scan_iter(redis.key(KeyFamily.OPEN, "*"))]
    written = await client.get(key)
    assert isinstance(written, bytes)
    await client.set(key, written.removeprefix(b"0/5/"))
    assert await tail.read("acme", "s") == old
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(8, "c")), 0, 0)])
    assert await tail.read("acme", "s") == SessionView(open=window(8, "c"))


ERASED_AT = TailPlace(0, 10)


def said_by(user: str, sequence: int, *texts: str) -> TailWindow:
    return TailWindow(sequence, tuple(b'{"user":"%s","text":"%s"}' % (user.encode(), text.encode()) for text in texts))


async def test_windows_of_an_erased_user_are_removed(tail: SessionTail, redis: GuardedRedis, client: Redis) -> None:
    view = SessionView(closed=said_by("ada", 0, "my PIN"), open=said_by("ada", 1, "is 4711"))
    for tenant, session in (("acme", "s"), ("acme", "s2"), ("umbrella", "s")):
        await tail.write([TailUpdate(tenant, session, view, 0, 5)])
    for session in ("s", "never"):
        await tail.forget("acme", session, user="ada", erased_at=ERASED_AT)
    assert await tail.read("acme", "s") == SessionView()
    assert [await tail.read(*each) for each in (("acme", "s2"), ("umbrella", "s"))] == [view] * 2
    kept = [await client.get(key) async for key in client.scan_iter(match=redis.key(KeyFamily.OPEN, "*")) if b"acme/s}" in key]
    assert [b"4711" in (each or b"") for each in kept] == [False]


async def test_a_write_before_an_erasure_is_discarded(tail: SessionTail) -> None:
    """Redis refused the write, and the worker tries it again after the erasure has forgotten the session."""
    stale = TailUpdate("acme", "s", SessionView(closed=said_by("ada", 0, "my PIN"), open=said_by("ada", 1, "is 4711")), 0, 9)
    await tail.forget("acme", "s", user="ada", erased_at=ERASED_AT)
    await tail.write([stale])
    assert await tail.read("acme", "s") == SessionView()
    returned = SessionView(open=said_by("ada", 2, "hello again"))
    await tail.write([TailUpdate("acme", "s", returned, 0, 11)])
    await tail.write([stale])
    assert await tail.read("acme", "s") == returned


async def test_others_words_and_later_words_stay(tail: SessionTail) -> None:
    bobs = SessionView(closed=said_by("bob", 0, "mine"), open=said_by("bob", 1, "too"))
    await tail.write([TailUpdate("acme", "bobs", bobs, 0, 5)])
    await tail.write([TailUpdate("acme", "s", SessionView(closed=said_by("ada", 0, "my PIN"), open=said_by("ada", 1, "hello")), 0, 11)])
    for session in ("bobs", "s"):
        await tail.forget("acme", session, user="ada", erased_at=ERASED_AT)
    assert await tail.read("acme", "bobs") == bobs
    assert await tail.read("acme", "s") == SessionView(open=said_by("ada", 1, "hello")), (
        "no closed window is known to be of after the erasure"
    )


async def test_a_session_may_be_forgotten_again(tail: SessionTail) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(open=said_by("ada", 1, "is 4711")), 0, 9)])
    for offset in (10, 10, 15):
        await tail.forget("acme", "s", user="ada", erased_at=TailPlace(0, offset))
        assert await tail.read("acme", "s") == SessionView()
    returned = SessionView(open=said_by("ada", 2, "hello again"))
    await tail.write([TailUpdate("acme", "s", returned, 0, 14)])
    assert await tail.read("acme", "s") == SessionView(), "it precedes the second erasure"


async def test_an_erasure_keeps_others_in_a_shared_window(tail: SessionTail) -> None:
    said = tuple(b'{"user":"%s","text":"%s"}' % pair for pair in ((b"ann", b"a"), (b"bo", b"b"), (b"ann", b"c")))
    view = SessionView(closed=TailWindow(0, said), open=TailWindow(1, said[1:]))
    await tail.write([TailUpdate("acme", "s", view, 0, 5)])
    await tail.forget("acme", "s", user="bo", erased_at=TailPlace(0, 7))
    assert (await tail.read("acme", "s")).messages == (said[0], said[2], said[2])
