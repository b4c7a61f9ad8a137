import uuid
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from runtime.errors import RedisUnavailableError
from runtime.redis import connect_redis
from runtime.session_tail import SessionTail
from runtime.settings import RedisSettings

pytestmark = pytest.mark.integration


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[Redis]:
    async with connect_redis(RedisSettings(url=redis_url)) as client:
        yield client


@pytest.fixture
def tail(client: Redis) -> SessionTail:
    return SessionTail(client=client, prefix=f"{uuid.uuid4()}:", max_messages=5, ttl_s=60)


async def test_an_unknown_session_is_empty(tail: SessionTail) -> None:
    view = await tail.read("acme", "s")
    assert (view.messages, view.open_sequence, view.open_messages) == ((), None, ())


async def test_messages_come_back_in_the_order_of_the_log(tail: SessionTail) -> None:
    await tail.append("acme", "s", 0, [(12, b'{"text":"b:c"}')])
    await tail.append("acme", "s", 0, [(9, b"a"), (100, b"d")])
    view = await tail.read("acme", "s")
    assert [(message.offset, message.message_json) for message in view.messages] == [(9, b"a"), (12, b'{"text":"b:c"}'), (100, b"d")]
    assert view.open_sequence == 0
    assert view.open_messages == view.messages


async def test_a_repeated_write_changes_nothing(tail: SessionTail) -> None:
    for _ in range(2):
        await tail.append("acme", "s", 0, [(1, b"a"), (2, b"b")])
    once = await tail.read("acme", "s")
    assert [message.message_json for message in once.messages] == [b"a", b"b"]
    await tail.append("acme", "s", 0, [(2, b"B")])
    assert [message.message_json for message in (await tail.read("acme", "s")).messages] == [b"a", b"B"]


async def test_a_closed_window_stays_readable_and_is_not_opened_again(tail: SessionTail) -> None:
    await tail.append("acme", "s", 0, [(1, b"a"), (2, b"b")])
    await tail.close_window("acme", "s", 0)
    view = await tail.read("acme", "s")
    assert (len(view.messages), view.open_sequence, view.open_messages) == (2, None, ())
    await tail.append("acme", "s", 1, [(3, b"c")])
    await tail.append("acme", "s", 0, [(1, b"a")])
    await tail.close_window("acme", "s", 0)
    view = await tail.read("acme", "s")
    assert [message.message_json for message in view.open_messages] == [b"c"]
    assert view.open_sequence == 1


async def test_a_close_that_overtakes_its_messages_holds(tail: SessionTail) -> None:
    await tail.close_window("acme", "s", 3)
    await tail.append("acme", "s", 3, [(1, b"a")])
    assert (await tail.read("acme", "s")).open_sequence is None


async def test_only_the_newest_messages_are_kept(tail: SessionTail) -> None:
    await tail.append("acme", "s", 0, [(offset, b"%d" % offset) for offset in range(8)])
    assert [message.offset for message in (await tail.read("acme", "s")).messages] == [3, 4, 5, 6, 7]


async def test_sessions_and_tenants_keep_apart(tail: SessionTail) -> None:
    await tail.append("a", "b/c", 0, [(1, b"mine")])
    await tail.append("a/b", "c", 0, [(1, b"theirs")])
    assert [message.message_json for message in (await tail.read("a", "b/c")).messages] == [b"mine"]
    assert (await tail.read("a", "other")).messages == ()


async def test_every_key_expires(client: Redis) -> None:
    prefix = f"{uuid.uuid4()}:"
    tail = SessionTail(client=client, prefix=prefix, ttl_s=60)
    await tail.close_window("acme", "s", 0)
    await tail.append("acme", "s", 1, [(1, b"a")])
    keys = await client.keys(f"{prefix}*")
    assert len(keys) == 2
    for key in keys:
        assert 0 < await client.pttl(key) <= 60_000


async def test_redis_away_is_one_clear_error(tmp_path_factory: pytest.TempPathFactory) -> None:
    async with connect_redis(RedisSettings(url=f"unix://{tmp_path_factory.getbasetemp()}/none", timeout_s=0.5)) as client:
        tail = SessionTail(client=client, prefix="p:")
        for call in (tail.read("a", "s"), tail.append("a", "s", 0, [(1, b"a")]), tail.close_window("a", "s", 0)):
            with pytest.raises(RedisUnavailableError, match="VARVE_REDIS__URL"):
                await call
