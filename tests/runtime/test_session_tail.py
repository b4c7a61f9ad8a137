import pytest
from redis.asyncio import Redis

from runtime.redis import GuardedRedis
from runtime.session_tail import SessionTail, SessionView, TailUpdate, TailWindow

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
    await tail.write([TailUpdate("acme", "s", view)])
    assert await tail.read("acme", "s") == view


async def test_a_repeated_write_changes_nothing(tail: SessionTail) -> None:
    update = TailUpdate("acme", "s", SessionView(open=window(0, "a")))
    await tail.write([update, update])
    assert await tail.read("acme", "s") == update.view


async def test_a_closed_window_stays_readable_beside_the_next(tail: SessionTail) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(0, "a", "b")))])
    await tail.write([TailUpdate("acme", "s", SessionView(closed=window(0, "a", "b")))])
    assert await tail.read("acme", "s") == SessionView(closed=window(0, "a", "b"))
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(1, "c")))])
    assert await tail.read("acme", "s") == SessionView(closed=window(0, "a", "b"), open=window(1, "c"))


async def test_a_late_write_does_not_reopen_a_window(tail: SessionTail) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(closed=window(3, "a")))])
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(3, "a")))])
    assert (await tail.read("acme", "s")).open is None


async def test_sessions_and_tenants_keep_apart(tail: SessionTail) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(0, "a")))])
    assert await tail.read("acme", "s/1") == SessionView()
    assert await tail.read("other", "s") == SessionView()


async def test_tails_are_dropped_after_a_while(tail: SessionTail, redis: GuardedRedis, client: Redis) -> None:
    await tail.write([TailUpdate("acme", "s", SessionView(open=window(0, "a"), closed=window(0, "a")))])
    keys = [key async for key in client.scan_iter(redis.key("*"))]
    assert len(keys) == 2
    for key in keys:
        assert 0 < await client.pttl(key) <= 60_000
