"""Redis rewrites its files without deleted values, or Varve reports what they keep."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from redis.asyncio import Redis

from runtime.redis.client import GuardedRedis
from runtime.redis.server import rewrite_files
from tests.redis_server import RedisServer
from tests.streams.harness import until_true

pytestmark = pytest.mark.integration

WORD = b"ZQXsecret"


@pytest.fixture
async def client(mortal_redis: RedisServer) -> AsyncIterator[Redis]:
    mortal_redis.start()
    async with Redis.from_url(f"unix://{mortal_redis.socket}") as client:
        yield client


@pytest.fixture
def redis(client: Redis) -> GuardedRedis:
    return GuardedRedis(client=client, prefix="varve:")


def files_with_word(server: RedisServer) -> list[str]:
    files = (each for each in server.socket.parent.rglob("*") if each.is_file())
    return sorted(each.name for each in files if WORD in each.read_bytes())


async def keep(client: Redis, **config: str) -> None:
    """Has the server keep files, and write a value there that is deleted afterwards."""
    for name, value in config.items():
        await client.config_set(name, value)

    async def is_rewritten() -> bool:
        return not (await client.info("persistence"))["aof_rewrite_in_progress"]  # the first rewrite, which creates the file

    await until_true(is_rewritten)
    await client.set("key", WORD)
    if config.get("save"):
        await client.save()
    await client.delete("key")


@pytest.mark.parametrize("config", [{"appendonly": "yes"}, {"save": "3600 1", "rdbcompression": "no"}], ids=["append-only", "snapshot"])
async def test_a_deleted_value_is_in_no_file(client: Redis, redis: GuardedRedis, mortal_redis: RedisServer, config: dict[str, str]) -> None:
    await keep(client, **config)

    async def is_written() -> bool:
        return len(files_with_word(mortal_redis)) == 1

    # Redis postpones a write to its append-only file by up to two seconds while an earlier one is being synchronised.
    await until_true(is_written)
    assert await rewrite_files(redis) == ()
    assert files_with_word(mortal_redis) == []


async def test_a_server_without_files_writes_none(client: Redis, redis: GuardedRedis, mortal_redis: RedisServer) -> None:
    await keep(client)
    assert await rewrite_files(redis) == ()
    assert not [each for each in mortal_redis.socket.parent.rglob("*") if each.is_file()]


async def test_a_forbidden_rewrite_is_reported(client: Redis, redis: GuardedRedis, mortal_redis: RedisServer) -> None:
    await keep(client, appendonly="yes", save="3600 1")
    await client.acl_setuser("default", enabled=True, nopass=True, keys="*", commands=["+@all", "-bgrewriteaof", "-bgsave"])
    append_only, snapshot = await rewrite_files(redis)
    assert append_only.startswith("Redis' append-only file keeps deleted values until its next rewrite: asking Redis to rewrite it failed")
    assert snapshot.startswith("Redis' snapshot file (RDB) keeps deleted values until the next snapshot: asking Redis to rewrite it failed")
    assert files_with_word(mortal_redis) != []


@pytest.mark.parametrize("forbidden", ["-info", "-config"])
async def test_a_server_without_reports_may_keep_values(client: Redis, redis: GuardedRedis, forbidden: str) -> None:
    await client.acl_setuser("default", enabled=True, nopass=True, keys="*", commands=["+@all", forbidden])
    (kept,) = await rewrite_files(redis)
    assert "does not report" in kept


async def test_an_endless_rewrite_is_not_waited_for(client: Redis, redis: GuardedRedis, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: Any) -> dict[str, Any]:
        return {"aof_enabled": 1, "aof_rewrite_in_progress": 1}

    monkeypatch.setattr("runtime.redis.server._persistence", never)
    (kept,) = await rewrite_files(redis, patience_s=0.3)
    assert kept == "Redis' append-only file keeps deleted values until its next rewrite: the rewrite was not done after 0.3 s"
