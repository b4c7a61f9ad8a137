"""An operator erases a user over HTTP, behind the answer: what is broken off says why, and goes on when it is asked for again."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from asgi_lifespan import LifespanManager

from retrieval.service.app import create_app
from retrieval.service.dependencies import open_dependencies
from retrieval.stores.build import build_store
from retrieval.stores.port import TenantScope
from runtime.control.erasure import subject_of
from runtime.settings import ControlSettings, Settings
from streams.erasure.erase import eraser_of
from tests.control_log import add_operator
from tests.retrieval.service.running_service import InProcessTransport
from tests.streams.flow import TENANT, caught_up, flush, send_sample, serving

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

PATH = "/v1/admin/erasures"
DEADLINE_S = 120.0
USER = "ada"
ASKED = {"tenant": TENANT, "user": USER, "reason": "asked for it"}


@pytest.fixture
def leased(flow: Settings) -> Settings:
    return flow.model_copy(update={"control": ControlSettings(lease_s=5.0)})


@pytest.fixture
async def http(leased: Settings) -> AsyncIterator[httpx.AsyncClient]:
    key = await add_operator(leased)
    app = create_app(leased, open_dependencies=lambda settings: open_dependencies(settings, eraser=eraser_of(settings)))
    async with (
        LifespanManager(app, startup_timeout=60, shutdown_timeout=60) as running,
        httpx.AsyncClient(
            transport=InProcessTransport(app=running.app), base_url="http://varve", headers={"Authorization": f"Bearer {key}"}
        ) as client,
    ):
        yield client


async def test_an_operator_erases_a_user_over_http(leased: Settings, http: httpx.AsyncClient) -> None:
    store = build_store(leased)
    await send_sample(leased, session="s-1", user=USER)
    async with serving(leased):
        await flush(leased)
        await caught_up(leased)
        assert await store.count(TenantScope(TENANT, USER)) > 0
        begun = await http.post(PATH, json=ASKED)
        assert begun.status_code == 202, begun.text
        assert begun.json()["subject"] == subject_of(TENANT, USER)
        again = await http.post(PATH, json=ASKED)
        assert again.status_code == 202, "it is carried out once more behind that"
        assert (await _listed(http))["running"] is True
        receipt = await _finished(http)
        assert receipt["problem"] is None
        assert receipt["remains"] == []
        assert receipt["found"]["windows"] > 0
        assert receipt["reason"] == "asked for it"
        assert USER not in (await http.get(PATH, params={"tenant": TENANT})).text
        assert await store.count(TenantScope(TENANT, USER)) == 0
    await store.close()


async def test_a_tenant_that_is_not_there_has_no_erasures(http: httpx.AsyncClient) -> None:
    assert (await http.get(PATH, params={"tenant": "nobody"})).status_code == 404
    refused = await http.post(PATH, json={**ASKED, "tenant": "nobody"})
    assert refused.status_code == 404
    assert (await http.get(PATH, params={"tenant": TENANT})).json() == {"erasures": []}
    assert (await http.post(PATH, json={"tenant": TENANT})).status_code == 422


async def _listed(http: httpx.AsyncClient) -> dict[str, Any]:
    (erasure,) = (await http.get(PATH, params={"tenant": TENANT})).json()["erasures"]
    assert isinstance(erasure, dict)
    return erasure


async def _finished(http: httpx.AsyncClient) -> dict[str, Any]:
    async with asyncio.timeout(DEADLINE_S):
        while (erasure := await _listed(http))["running"]:  # noqa: ASYNC110 - the service is asked, as a caller would
            await asyncio.sleep(0.2)
    assert erasure["finished_at"] is not None, erasure
    return erasure
