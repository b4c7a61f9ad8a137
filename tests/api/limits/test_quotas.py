"""Tenants' quotas on the running service: two processes' worth of it on one Redis, and none."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from runtime.redis.client import open_redis
from runtime.redis.rate_limits import SharedRateLimits
from runtime.settings import QuotaSettings, RedisSettings, Settings, StoreSettings
from tests.api.running_service import MEMORIES, RunningService, expect_problem, serving
from tests.redis_server import RedisServer

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

MESSAGE = {"user": "ann", "session": "quota", "text": "x"}
QUERY = {"query": "Where is Ann?"}


def with_quota(service: RunningService, redis: RedisSettings | None = None, **quota: object) -> Settings:
    """The service's settings with quotas, counted in a Redis of no other test."""
    chosen = redis or service.settings.redis.model_copy(update={"prefix": f"{uuid.uuid4()}:"})
    return service.settings.model_copy(update={"redis": chosen, "quota": QuotaSettings.model_validate(quota)})


@asynccontextmanager
async def two_processes(settings: Settings) -> AsyncIterator[tuple[httpx.AsyncClient, httpx.AsyncClient]]:
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(serving(settings)), await stack.enter_async_context(serving(settings))


async def test_messages_are_counted_over_all_processes(service: RunningService) -> None:
    settings = with_quota(service, messages_per_second=6 / 3600, burst_s=3600)
    async with two_processes(settings) as (one, other):
        first = await one.post("/v1/messages", json=[MESSAGE] * 4, headers=service.auth("acme"))
        assert first.status_code == 200, first.text
        assert first.headers["ratelimit-policy"] == '"messages";q=6;qu="messages";w=3600'
        assert first.headers["ratelimit"] == '"messages";r=2;t=2400'
        refused = await other.post("/v1/messages", json=[MESSAGE] * 3, headers=service.auth("acme"))
        problem = expect_problem(refused, 429, "messages a second are used up")
        assert problem["quota"] == "messages"
        assert 590 <= int(refused.headers["retry-after"]) <= 600
        assert refused.headers["ratelimit"].startswith('"messages";r=2;')
        assert (await other.post("/v1/messages", json=[MESSAGE] * 2, headers=service.auth("acme"))).status_code == 200
        flush = await one.post("/v1/flush", json={"session": "quota"}, headers=service.auth("acme"))
        expect_problem(flush, 429, "messages a second are used up")
        # Another tenant has its own quotas.
        assert (await one.post("/v1/messages", json=MESSAGE, headers=service.auth("umbrella"))).status_code == 200


async def test_a_repetition_uses_no_quota(service: RunningService) -> None:
    settings = with_quota(service, messages_per_second=2 / 3600, burst_s=3600)
    once = {**service.auth("acme"), "Idempotency-Key": str(uuid.uuid4())}
    async with serving(settings) as http:
        answers = [await http.post("/v1/messages", json=MESSAGE, headers=once) for _ in range(5)]
        assert [each.headers["idempotency-status"] for each in answers] == ["kept", *["replayed"] * 4]
        assert (await http.post("/v1/messages", json=MESSAGE, headers=service.auth("acme"))).status_code == 200
        flush = await http.post("/v1/flush", json={}, headers=service.auth("acme"))
        expect_problem(flush, 429, "messages a second are used up")


async def test_bytes_are_counted_by_the_body(service: RunningService) -> None:
    settings = with_quota(service, messages_per_second=1000, bytes_per_second=1000 / 3600, burst_s=3600)
    async with serving(settings) as http:
        large = {**MESSAGE, "text": "x" * 900}
        assert (await http.post("/v1/messages", json=large, headers=service.auth("acme"))).status_code == 200
        refused = await http.post("/v1/messages", json=large, headers=service.auth("acme"))
        assert expect_problem(refused, 429, "bytes a second are used up")["quota"] == "bytes"
        assert '"bytes";q=1000;qu="content-bytes";w=3600' in refused.headers["ratelimit-policy"]


async def test_recalls_have_a_rate(service: RunningService) -> None:
    settings = with_quota(service, recalls_per_second=2 / 3600, burst_s=3600)
    async with two_processes(settings) as (one, other):
        answers = [await each.post("/v1/recall", json=QUERY, headers=service.auth("acme")) for each in (one, other, one)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert [answer.headers["ratelimit"].split(";")[1] for answer in answers] == ["r=1", "r=0", "r=0"]
        assert answers[0].json()["results"]


async def test_recalls_at_once_are_bounded_over_all_processes(service: RunningService) -> None:
    settings = with_quota(service, concurrent_recalls=1)
    async with two_processes(settings) as (one, other), open_redis(settings.redis) as redis:
        limits = SharedRateLimits(redis=redis, purpose="quota")
        held = await limits.admit("acme", [], slots=1)
        assert held.lease is not None
        for http in (one, other):
            refused = await http.post("/v1/recall", json=QUERY, headers=service.auth("acme"))
            assert expect_problem(refused, 429, "concurrent recalls")["quota"] == "concurrent-recalls"
            assert refused.headers["ratelimit-policy"] == '"concurrent-recalls";q=1;qu="concurrent-requests"'
            assert refused.headers["retry-after"] == "1"
        await limits.release("acme", held.lease)
        # Each gives its slot back, a refused body included.
        for body, status in ((QUERY, 200), ({"query": ""}, 422), (QUERY, 200)):
            assert (await one.post("/v1/recall", json=body, headers=service.auth("acme"))).status_code == status


async def test_each_process_enforces_quotas_without_redis(service: RunningService, mortal_redis: RedisServer) -> None:
    mortal_redis.start()
    redis = RedisSettings(url=f"unix://{mortal_redis.socket}", prefix="q:", timeout_s=60.0)
    settings = with_quota(service, redis, recalls_per_second=2 / 3600, burst_s=3600)
    async with two_processes(settings) as (one, other):
        assert (await one.post("/v1/recall", json=QUERY, headers=service.auth("acme"))).status_code == 200
        mortal_redis.kill()
        for http in (one, other):
            statuses = [(await http.post("/v1/recall", json=QUERY, headers=service.auth("acme"))).status_code for _ in range(3)]
            assert statuses == [200, 200, 429], "the whole quota, each by itself"


async def test_a_tenant_at_its_memory_quota_cannot_write(service: RunningService) -> None:
    own = sum(memory.tenant == "acme" for memory in MEMORIES)
    settings = with_quota(service, memories=own)
    async with serving(settings) as http, asyncio.timeout(60):
        # Counted after the responses: the first request may still pass.
        while (response := await http.post("/v1/messages", json=MESSAGE, headers=service.auth("acme"))).status_code == 200:
            pass
        assert expect_problem(response, 507, f"reached its quota of {own} memories")["quota"] == "memories"
        assert "retry-after" not in response.headers
        assert (await http.post("/v1/recall", json=QUERY, headers=service.auth("acme"))).status_code == 200
    async with serving(with_quota(service, memories=own + 1)) as http:
        for _ in range(20):
            assert (await http.post("/v1/messages", json=MESSAGE, headers=service.auth("acme"))).status_code == 200


async def test_a_store_that_hangs_holds_up_no_message(service: RunningService, tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def never_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        asked.set()
        await reader.read()
        writer.close()

    socket = tmp_path / "s"
    settings = with_quota(service, memories=1).model_copy(update={"store": StoreSettings(socket=socket, timeout_s=600)})
    async with await asyncio.start_unix_server(never_answer, socket), serving(settings) as http, asyncio.timeout(60):
        for _ in range(3):
            assert (await http.post("/v1/messages", json=MESSAGE, headers=service.auth("acme"))).status_code == 200
        await asked.wait()
        assert (await http.post("/v1/messages", json=MESSAGE, headers=service.auth("acme"))).status_code == 200
