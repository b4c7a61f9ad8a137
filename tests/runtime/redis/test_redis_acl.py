"""The ACLs of `docs/operate/security.md` on a real Redis: they permit what Varve does, and nothing else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, NoPermissionError
from redis.exceptions import ConnectionError as RedisConnectionError

from models.llm.limits import Lease, Limits, SharedLimits
from runtime.errors import RedisUnavailableError
from runtime.redis.client import GuardedRedis, open_redis
from runtime.redis.idempotency_cache import LARGEST_ANSWER, Begun, IdempotencyCache
from runtime.redis.recall_history import RecallHistory, Returned
from runtime.redis.retrieval_counts import RetrievalCounts, Retrieved
from runtime.redis.server import rewrite_files
from runtime.redis.session_tail import SessionTail, SessionView, TailUpdate, TailWindow
from runtime.settings import RedisSettings
from tests.redis_server import RedisServer
from tests.security_page import recipe

pytestmark = pytest.mark.integration

PASSWORD = "a-long-password"


@pytest.fixture
async def guarded(mortal_redis: RedisServer) -> RedisServer:
    mortal_redis.start()
    async with Redis(unix_socket_path=str(mortal_redis.socket)) as client:
        for command in recipe("redis acl"):
            await client.execute_command(*command.split())  # type: ignore[no-untyped-call]
    return mortal_redis


@asynccontextmanager
async def varves(server: RedisServer, *, prefix: str = "varve:") -> AsyncIterator[GuardedRedis]:
    async with open_redis(RedisSettings(url=f"unix://varve:{PASSWORD}@{server.socket}?db=0", prefix=prefix)) as redis:
        yield redis


async def test_varve_works_with_exactly_its_acl(guarded: RedisServer) -> None:
    async with varves(guarded) as redis:
        await redis.ping()
        history = RecallHistory(redis=redis)
        await history.add([Returned("acme", "ann", ["hash"])])
        assert await history.of("acme", "ann", until=datetime.now(UTC)) == {"hash"}
        counts = RetrievalCounts(redis=redis)
        await counts.add([Retrieved("acme", ["m"], datetime.now(UTC))])
        assert (await counts.of("acme", ["m"]))["m"].number == 1
        answers = IdempotencyCache(redis=redis, ttl_s=60, max_bytes=LARGEST_ANSWER)
        begun = await answers.begin("acme", "key", b"request")
        assert isinstance(begun, Begun)
        assert await answers.keep(begun, b"answer")
        limits, lease = SharedLimits(endpoint="e", limits=Limits(concurrency=1), redis=redis, lease_s=5), Lease(id="l", reserved=1)
        assert await limits.acquire(lease) == 0
        await limits.renew(lease)
        await limits.release(lease)
        await limits.pause(1)
        tail = SessionTail(redis=redis, ttl_s=60)
        await tail.write([TailUpdate("acme", "s", SessionView(open=TailWindow(0, (b"{}",))), partition=0, offset=0)])
        assert (await tail.read("acme", "s")).open is not None
        (kept,) = await rewrite_files(redis)
        assert "snapshot" in kept, "CONFIG GET is not allowed, so a receipt says what may remain"
        assert await redis.drop_keys() > 0


async def test_varve_can_access_only_its_own_keys(guarded: RedisServer) -> None:
    async with varves(guarded, prefix="others:") as redis:
        with pytest.raises(RedisUnavailableError, match="permission"):
            await RecallHistory(redis=redis).add([Returned("acme", "ann", ["hash"])])


@pytest.mark.parametrize("command", ["FLUSHALL", "CONFIG GET *", "KEYS *", "ACL LIST", "SAVE", "SHUTDOWN", "PUBLISH a b"])
async def test_varve_may_not_administer(guarded: RedisServer, command: str) -> None:
    async with Redis(unix_socket_path=str(guarded.socket), username="varve", password=PASSWORD) as client:
        with pytest.raises(NoPermissionError):
            await client.execute_command(*command.split())  # type: ignore[no-untyped-call]


async def test_other_users_cannot_connect(guarded: RedisServer) -> None:
    for user, password in ((None, None), ("varve", "guessed")):
        async with Redis(unix_socket_path=str(guarded.socket), username=user, password=password) as client:
            with pytest.raises((AuthenticationError, RedisConnectionError)):
                await client.get("varve:open:x")
