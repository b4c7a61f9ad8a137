"""The lists of sessions, on a real Redis."""

import pytest
from redis.asyncio import Redis

from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.redis.session_index import SessionIndex, SessionMark
from runtime.redis.session_tail import SessionTail, SessionView, TailPlace, TailUpdate, TailWindow

pytestmark = pytest.mark.integration


@pytest.fixture
def index(redis: GuardedRedis) -> SessionIndex:
    return SessionIndex(redis=redis, ttl_ms=60_000)


async def listed(index: SessionIndex, tenant: str, user: str | None = None, *, limit: int = 2) -> list[str]:
    names: list[str] = []
    after = None
    while page := await index.page(tenant, user, after=after, limit=limit):
        names += [each.session for each in page]
        after = page[-1]
    return names


async def test_sessions_written_at_once_are_on_one_page_each(index: SessionIndex) -> None:
    names = [f"s{number}" for number in range(7)]
    await index.add({("acme", each): {"ann"} for each in names})
    assert await listed(index, "acme") == sorted(names, reverse=True)
    assert await listed(index, "acme", "ann") == sorted(names, reverse=True)
    assert (await listed(index, "other"), await listed(index, "acme", "bob")) == ([], [])


async def test_a_new_message_moves_its_session_to_the_front(index: SessionIndex, client: Redis) -> None:
    for name in ("s", "t", "s"):
        before = await client.time()
        while (await client.time())[1] // 1000 == before[1] // 1000:
            pass  # The next write has a later millisecond.
        await index.add({("acme", name): {"ann"}})
    assert await listed(index, "acme", limit=1) == ["s", "t"]


async def test_old_sessions_are_left_out_and_removed(redis: GuardedRedis, client: Redis, index: SessionIndex) -> None:
    key = redis.key(KeyFamily.SESSIONS, "acme")
    await client.zadd(key, {f"old-{number}": 1000 + number for number in range(9)})
    assert await listed(index, "acme") == []
    await index.add({("acme", "s"): ()})
    assert await client.zcard(key) == 1 + 9 - 4, "twice as many as the arguments are removed at once"
    await index.add({("acme", "s"): ()})
    await index.add({("acme", "s"): ()})
    assert await client.zrange(key, 0, -1) == [b"s"]
    assert 0 < await client.pttl(key) <= 60_000


async def test_an_erased_user_leaves_the_lists(redis: GuardedRedis, index: SessionIndex) -> None:
    def said_by(*users: str) -> TailWindow:
        return TailWindow(0, tuple(b'{"user":"%s","text":"hello"}' % each.encode() for each in users))

    tail = SessionTail(redis=redis, ttl_s=60)
    for session, users in (("own", ("ada",)), ("shared", ("ada", "bob"))):
        await tail.write([TailUpdate("acme", session, SessionView(open=said_by(*users)), 0, 5, frozenset(users))])
    late = [TailUpdate("acme", "own", SessionView(open=said_by("ada")), 0, 5, frozenset({"ada"}))]
    for session in ("own", "shared"):
        await tail.forget("acme", session, user="ada", erased_at=TailPlace(0, 9))
    await tail.write(late)
    assert (await listed(index, "acme"), await listed(index, "acme", "ada"), await listed(index, "acme", "bob")) == (
        ["shared"],
        [],
        ["shared"],
    )


def test_a_mark_is_read_as_it_is_written() -> None:
    mark = SessionMark(17, "a-b/c")
    assert SessionMark.read(str(mark)) == mark
    for wrong in ("", "a", "17", "17-", "-a", "\u0661-a"):
        with pytest.raises(ValueError, match="not the place of a session"):
            SessionMark.read(wrong)
