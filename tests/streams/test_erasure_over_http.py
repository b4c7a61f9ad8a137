"""An operator erases a user over HTTP, after the response: if the process that received the request stops, the next one continues."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx
import pytest

from api.composition import open_dependencies
from api.dependencies import Dependencies
from control.erasure import subject_of
from control.unfinished_erasures import UnfinishedErasures
from runtime.redis.client import open_redis
from runtime.settings import Settings
from stores.build import build_store
from stores.port import TenantScope
from streams.operations.erasure.erase import eraser_of
from tests.api.running_service import serving as serving_http
from tests.control_log import add_operator
from tests.streams.flow import TENANT, caught_up, flush, send_sample, serving

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

PATH = "/v1/admin/erasures"
DEADLINE_S = 120.0
USER = "ada"
ASKED = {"tenant": TENANT, "user": USER, "reason": "asked for it"}


@pytest.fixture
async def operator_key(leased: Settings) -> str:
    return await add_operator(leased)


@asynccontextmanager
async def service(settings: Settings, operator_key: str) -> AsyncIterator[httpx.AsyncClient]:
    def opened(settings: Settings) -> AbstractAsyncContextManager[Dependencies]:
        return open_dependencies(settings, eraser=eraser_of(settings))

    async with serving_http(settings, key=operator_key, open_dependencies=opened) as client:
        yield client


async def test_an_operator_erases_a_user_over_http(leased: Settings, operator_key: str) -> None:
    store = build_store(leased)
    await send_sample(leased, session="s-1", user=USER)
    async with serving(leased):
        await flush(leased)
        await caught_up(leased)
        assert await store.count(TenantScope(TENANT, USER)) > 0
        async with service(leased, operator_key) as asked:
            begun = await asked.post(PATH, json=ASKED)
            assert begun.status_code == 202, begun.text
            assert begun.json()["subject"] == subject_of(TENANT, USER)
            assert begun.json()["resumable"] is True
            assert (await _listed(asked))["running"] is True
        async with service(leased, operator_key) as http:
            await _taken_up(http)
            again = await http.post(PATH, json=ASKED)
            assert again.status_code == 202, "it runs once more after that"
            assert (await _listed(http))["running"] is True
            receipt = await _finished(http)
            assert USER not in (await http.get(PATH, params={"tenant": TENANT})).text
        assert receipt["problem"] is None
        assert receipt["remains"] == []
        assert receipt["found"]["windows"] > 0
        assert receipt["reason"] == "asked for it"
        assert await store.count(TenantScope(TENANT, USER)) == 0
    await store.close()
    async with open_redis(leased.redis) as redis:
        assert await UnfinishedErasures(redis=redis).every() == []


async def test_a_tenant_that_is_not_there_has_no_erasures(leased: Settings, operator_key: str) -> None:
    async with service(leased, operator_key) as http:
        assert (await http.get(PATH, params={"tenant": "nobody"})).status_code == 404
        refused = await http.post(PATH, json={**ASKED, "tenant": "nobody"})
        assert refused.status_code == 404
        assert (await http.get(PATH, params={"tenant": TENANT})).json() == {"erasures": []}
        assert (await http.post(PATH, json={"tenant": TENANT})).status_code == 422
    async with open_redis(leased.redis) as redis:
        assert await UnfinishedErasures(redis=redis).every() == [], "what is refused leaves no name"


async def _listed(http: httpx.AsyncClient) -> dict[str, Any]:
    response = await http.get(PATH, params={"tenant": TENANT})
    assert response.status_code == 200, response.text
    (erasure,) = response.json()["erasures"]
    assert isinstance(erasure, dict)
    return erasure


async def _taken_up(http: httpx.AsyncClient) -> None:
    """Nobody asks this process for it."""
    async with asyncio.timeout(DEADLINE_S):
        while not (erasure := await _listed(http))["running"]:  # noqa: ASYNC110 - the service is asked, as a caller would
            await asyncio.sleep(0.05)
    assert erasure["finished_at"] is None, erasure


async def _finished(http: httpx.AsyncClient) -> dict[str, Any]:
    async with asyncio.timeout(DEADLINE_S):
        while (erasure := await _listed(http))["finished_at"] is None or erasure["running"]:
            assert erasure["problem"] is None, erasure
            await asyncio.sleep(0.2)
    return erasure
