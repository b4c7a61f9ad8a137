"""The operators' routes of re-extractions: estimate, confirmation, start, progress, pause, resume, cancel."""

import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from runtime.kafka import create_topics
from runtime.settings import RedisSettings, Settings, StoreSettings
from tests.api.running_service import bearer, serving
from tests.control_log import add_operator, add_tenant
from tests.one_broker import one_broker
from tests.streams.operations.reextraction.history import NEW, NOTES, TENANT, send_windows

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

PATH = "/v1/admin/reextractions"
WINDOWS = 6


def expect_problem(response: httpx.Response, status: int, kind: str) -> None:
    """Checks an error's status and type."""
    assert (response.status_code, response.json()["type"]) == (status, f"urn:varve:problem:{kind}"), response.text


class Operator:
    """An operator's requests."""

    def __init__(self, http: httpx.AsyncClient, key: str) -> None:
        self._http = http
        self._headers = bearer(key)

    async def ask(self, method: str, path: str = "", body: Any = None) -> httpx.Response:
        return await self._http.request(method, PATH + path, json=body, headers=self._headers)

    async def done(self, method: str, path: str = "", body: Any = None) -> dict[str, Any]:
        answer = await self.ask(method, path, body)
        assert answer.status_code == 200, answer.text
        content: dict[str, Any] = answer.json()
        return content


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def operators(kafka: str, redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, Operator]]:
    folder = tmp_path_factory.mktemp("reextractions")
    prefix = f"t{folder.name}{time.monotonic_ns()}."
    settings = Settings(
        data=folder,
        kafka=one_broker(bootstrap=kafka, topic_prefix=prefix, partitions=2),
        store=StoreSettings(socket=folder / "nobody"),
        redis=RedisSettings(url=redis_url, prefix=f"{prefix}redis:"),
    )
    await create_topics(settings)
    await add_tenant(settings, TENANT, schema=NOTES)
    await add_tenant(settings, "globex", schema=NOTES)
    await send_windows(settings, range(WINDOWS))
    keys = {"admin": await add_operator(settings), "viewer": await add_operator(settings, role="viewer")}
    async with serving(settings) as http:
        yield {role: Operator(http, key) for role, key in keys.items()}


async def test_one_is_confirmed_started_paused_and_cancelled(operators: dict[str, Operator]) -> None:
    admin, viewer = operators["admin"], operators["viewer"]
    size = await viewer.done("POST", "/estimate", {"calls_per_minute": 3})
    assert (size["windows"], size["messages"], size["calls"], size["cost"], size["duration_s"]) == (WINDOWS, WINDOWS, 0, 0.0, 120.0)
    assert (size["model"], set(size["tenants"])) == (None, {TENANT}), "the other tenant has no windows"

    body = {"generation": NEW, "budget_tokens": 5_000, "calls_per_minute": 3}
    refused = await admin.ask("POST", "", body)
    expect_problem(refused, 409, "change-refused")
    assert refused.json()["estimate"]["windows"] == WINDOWS
    assert (await viewer.done("GET"))["reextractions"] == [], "nothing was started"

    started = await admin.done("POST", "", {**body, "confirmed": True})
    assert (started["state"], started["changed"]) == ("running", True)
    found = await viewer.done("GET", f"/{NEW}")
    assert set(found["tenants"]) == {TENANT, "globex"}, "all tenants"
    assert (found["windows_left"], found["share"], found["caught_up"], found["workers"]) == (WINDOWS, 0.0, False, 0)
    assert (found["waits_for_budget"], found["yields_to"]) == ([], None)
    assert found["budget"] == {"tokens": 5_000, "cost": None, "calls_per_minute": 3}
    assert "generations work v2" in found["advice"]

    paused = await admin.done("POST", f"/{NEW}/pause")
    assert paused["state"] == "paused"
    assert paused["reason"].startswith("paused by operator ")
    resumed = await admin.done("POST", f"/{NEW}/resume", {"budget_tokens": 9_000})
    assert resumed["state"] == "running"
    assert (await viewer.done("GET", f"/{NEW}"))["budget"] == {"tokens": 9_000, "cost": None, "calls_per_minute": 3}
    assert (await admin.done("POST", f"/{NEW}/cancel"))["state"] == "cancelling"
    expect_problem(await admin.ask("POST", f"/{NEW}/resume", {}), 409, "change-refused")
    expect_problem(await admin.ask("POST", "", {**body, "confirmed": True}), 409, "change-refused")


async def test_unknown_ones_and_wrong_roles_are_refused(operators: dict[str, Operator]) -> None:
    admin, viewer = operators["admin"], operators["viewer"]
    for action in ("", "/pause", "/resume", "/cancel"):
        expect_problem(await admin.ask("POST" if action else "GET", f"/v9{action}", {} if action == "/resume" else None), 404, "not-found")
    expect_problem(await admin.ask("POST", "/estimate", {"tenants": ["nobody"]}), 404, "not-found")
    expect_problem(await viewer.ask("POST", "", {"generation": "v3", "confirmed": True}), 403, "forbidden")
    expect_problem(await viewer.ask("POST", "/v3/pause"), 403, "forbidden")
    for body in ({}, {"generation": "-"}, {"generation": "v3", "budget_tokens": 0}, {"generation": "v3", "budget_cost": 0}):
        expect_problem(await admin.ask("POST", "", body), 422, "invalid")
