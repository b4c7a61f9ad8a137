"""One policy for an unavailable Redis: one caller waits for a time-out, all others fall back at once, and it recovers automatically."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from structlog.testing import capture_logs

from memory.records import Message
from runtime.errors import RedisUnavailableError
from runtime.redis.client import GuardedRedis, open_redis
from runtime.redis.extraction_notes import PromptEntities
from runtime.redis.keys import KeyFamily
from runtime.redis.recall_history import RecallHistory, Returned
from runtime.redis.recent_patches import RecentPatchStore, WindowPlace
from runtime.redis.session_history import SessionHistory
from runtime.redis.session_tail import SessionTail, SessionView, TailUpdate, TailWindow
from runtime.settings import RedisSettings
from tests.made_records import made_extraction, made_window
from tests.redis_server import RedisServer, SilentRedis

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
TIMEOUT_S = 0.2
RETRY_S = 0.05

Use = Callable[[GuardedRedis], Awaitable[object]]

WINDOW = made_window([Message(tenant="acme", user="ann", session="s", id="m", text="hi", event_time=NOON)], sequence=1)
EXTRACTION = made_extraction([], NOON, window_id="w", tenant="acme", user="ann", session="s", sequence=1, schema_name="tests")
USES: dict[str, Use] = {
    "a window's entities read": lambda redis: PromptEntities(redis=redis, ttl_s=60).of("acme", "w", ""),
    "a window's entities kept": lambda redis: PromptEntities(redis=redis, ttl_s=60).remember("acme", "w", "", []),
    "a session's history read": lambda redis: SessionHistory(redis=redis, ttl_s=60).before(WINDOW, ""),
    "a session's history kept": lambda redis: SessionHistory(redis=redis, ttl_s=60).add(EXTRACTION),
    "recent patches read": lambda redis: RecentPatchStore(redis=redis).before(WindowPlace("acme", "ann", "", 0, 1)),
    "recent patches kept": lambda redis: RecentPatchStore(redis=redis).add(WindowPlace("acme", "ann", "", 0, 1), []),
    "recalls read": lambda redis: RecallHistory(redis=redis).of("acme", "ann", until=NOON),
    "recalls kept": lambda redis: RecallHistory(redis=redis).add([Returned("acme", "ann", ["a"])]),
    "a tail read": lambda redis: SessionTail(redis=redis).read("acme", "s"),
    "a tail written": lambda redis: SessionTail(redis=redis).write(
        [TailUpdate("acme", "s", SessionView(open=TailWindow(0, (b"{}",))), 0, 0), TailUpdate("acme", "t", SessionView(), 0, 0)]
    ),
}


@pytest.fixture
async def silent() -> AsyncIterator[SilentRedis]:
    async with SilentRedis() as server:
        yield server


@pytest.fixture
async def hanging(silent: SilentRedis) -> AsyncIterator[GuardedRedis]:
    """A Redis that takes connections and never answers."""
    async with open_redis(RedisSettings(url=silent.url, timeout_s=TIMEOUT_S)) as redis:
        yield redis


@pytest.mark.parametrize("first", USES)
async def test_a_hanging_redis_costs_one_timeout(silent: SilentRedis, hanging: GuardedRedis, first: str) -> None:
    for name in (first, *USES, first):
        with pytest.raises(RedisUnavailableError):
            await USES[name](hanging)
    assert silent.connections == 1


async def test_callers_that_already_wait_fail_with_the_first(hanging: GuardedRedis) -> None:
    first = asyncio.create_task(hanging.run("the first", lambda client: client.get("a")))
    await asyncio.sleep(TIMEOUT_S / 2)
    second = asyncio.create_task(hanging.run("the second", lambda client: client.get("b")))
    await asyncio.wait({first})
    await asyncio.sleep(0)
    assert second.done(), "it does not wait for its own time-out"
    assert {type(each.exception()) for each in (first, second)} == {RedisUnavailableError}


async def test_an_outage_is_logged_once(hanging: GuardedRedis) -> None:
    with capture_logs() as logs:
        for use in USES.values():
            with pytest.raises(RedisUnavailableError):
                await use(hanging)
    assert [(entry["event"], entry["log_level"]) for entry in logs] == [("redis_unavailable", "warning")]
    assert "VARVE_REDIS__URL" not in logs[0]["error"]


async def test_without_a_client_redis_is_unavailable() -> None:
    redis = GuardedRedis(client=None, prefix="p:")
    for _ in range(2):
        with pytest.raises(RedisUnavailableError, match="no Redis is configured"):
            await redis.run("a read", lambda client: client.get("a"))


async def test_a_programming_error_is_not_taken_for_an_outage(hanging: GuardedRedis) -> None:
    async def wrong(_: Redis) -> None:
        raise KeyError("a")

    for _ in range(2):
        with pytest.raises(KeyError):
            await hanging.run("a mistake", wrong)


@pytest.mark.integration
class TestRealRedis:
    async def test_a_suspended_redis_is_found_away_and_back(self, mortal_redis: RedisServer) -> None:
        mortal_redis.start()
        socket = str(mortal_redis.socket)
        async with Redis(unix_socket_path=socket, socket_timeout=TIMEOUT_S, retry=Retry(NoBackoff(), 0)) as client:
            redis = GuardedRedis(client=client, prefix="p:", retry_s=RETRY_S)
            tail = SessionTail(redis=redis)
            update = TailUpdate("acme", "s", SessionView(open=TailWindow(0, (b"{}",))), 0, 0)
            with capture_logs() as logs:
                await tail.write([update])
                mortal_redis.suspend()
                with pytest.raises(RedisUnavailableError):
                    await tail.read("acme", "s")
                with pytest.raises(RedisUnavailableError):
                    await redis.ping()
                mortal_redis.resume()
                seen = [await self._view(tail)]
                while seen[-1] is None and len(seen) < 100:
                    seen.append(await asyncio.sleep(RETRY_S, await self._view(tail)))
                assert seen[-1] == update.view
            assert [entry["event"] for entry in logs] == ["redis_unavailable", "redis_recovered"]

    async def test_a_refused_command_is_no_outage(self, redis: GuardedRedis, client: Redis) -> None:
        await client.set(redis.key(KeyFamily.RECALLED, "acme/ann"), "of a wrong kind")
        with capture_logs() as logs, pytest.raises(RedisUnavailableError, match="WRONGTYPE"):
            await RecallHistory(redis=redis).add([Returned("acme", "ann", ["a"])])
        assert [entry["event"] for entry in logs] == ["redis_command_refused"]
        assert await SessionTail(redis=redis).read("acme", "s") == SessionView()

    async def test_a_ping_finds_redis_back_before_the_next_trial(self, redis: GuardedRedis) -> None:
        async def away(_: Redis) -> None:
            raise ConnectionError("away")

        with pytest.raises(RedisUnavailableError):
            await redis.run("a read", away)
        with pytest.raises(RedisUnavailableError, match="tried again in"):
            await redis.run("a read", lambda client: client.get("a"))
        await redis.ping()
        assert await redis.run("a read", lambda client: client.get(redis.key(KeyFamily.QUOTA, "a"))) is None

    async def test_a_cancelled_callers_command_is_carried_out(self, redis: GuardedRedis, client: Redis) -> None:
        key = redis.key(KeyFamily.QUOTA, "cancelled")
        caller = asyncio.create_task(redis.run("a write", lambda client: client.set(key, "1")))
        await asyncio.sleep(0)
        caller.cancel()
        await asyncio.wait({caller})
        await redis.drain()
        assert await client.getdel(key) == b"1"

    async def test_dropping_keys_takes_the_prefix_literally(self, redis_url: str, client: Redis, topic_prefix: str) -> None:
        prefix = f"{topic_prefix}[a-c]*?\\"
        own = [f"{prefix}{number}" for number in range(2500)]
        others = [f"{topic_prefix}a-anything", f"{topic_prefix}b"]
        await client.mset(dict.fromkeys([*own, *others], "1"))
        async with open_redis(RedisSettings(url=redis_url, prefix=prefix, timeout_s=60.0)) as redis:
            assert await redis.drop_keys() == len(own)
        assert await client.exists(*others) == len(others)
        await client.delete(*others)

    @staticmethod
    async def _view(tail: SessionTail) -> SessionView | None:
        try:
            return await tail.read("acme", "s")
        except RedisUnavailableError:
            return None


async def test_an_empty_prefix_is_never_dropped() -> None:
    with pytest.raises(ValueError, match="empty prefix"):
        await GuardedRedis(client=None, prefix="").drop_keys()
