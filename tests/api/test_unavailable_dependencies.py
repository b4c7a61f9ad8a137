"""The service while one of its dependencies is unavailable."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from api.composition import open_dependencies
from api.dependencies import Dependencies
from control.tenants import follow_tenants
from runtime.metrics import Metrics
from runtime.settings import Settings, StoreSettings
from tests.api.running_service import (
    OSLO,
    RunningService,
    expect_problem,
    readiness_checks,
    serving,
)

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture
def closed_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


async def test_recall_works_without_kafka_and_redis(service: RunningService, closed_address: str) -> None:
    settings = service.settings.model_copy(
        update={
            "kafka": service.settings.kafka.model_copy(update={"bootstrap": closed_address, "request_timeout_s": 1.0}),
            "redis": service.settings.redis.model_copy(update={"url": f"redis://{closed_address}/0"}),
            "service": service.settings.service.model_copy(update={"produce_timeout_s": 1.0, "probe_timeout_s": 5.0}),
        }
    )

    @asynccontextmanager
    async def but_the_control_log(settings: Settings) -> AsyncIterator[Dependencies]:
        async with open_dependencies(settings) as dependencies, follow_tenants(service.settings, Metrics()) as tenants:
            yield replace(dependencies, tenants=tenants)

    async with serving(settings, open_dependencies=but_the_control_log, patience_s=0) as http:
        recalled = await http.post("/v1/recall", json={"query": "Where is Ann?", "session": "talk"}, headers=service.auth("acme"))
        assert recalled.status_code == 200, recalled.text
        assert recalled.json()["results"]
        assert recalled.json()["degraded"] == ["session_tail"]
        message = {"user": "ann", "session": "s", "text": "x"}
        one = await http.post("/v1/messages", json={**message, "id": "m1"}, headers=service.auth("acme"))
        assert expect_problem(one, 503, "Kafka does not answer")["id"] == "m1"
        assert int(one.headers["retry-after"]) > 0
        batch = await http.post("/v1/messages", json=[message, message], headers=service.auth("acme"))
        assert [item["status"] for item in expect_problem(batch, 503, "Kafka does not answer")["items"]] == [503, 503]
        assert int(batch.headers["retry-after"]) > 0
        expect_problem(await http.post("/v1/flush", json={}, headers=service.auth("acme")), 503, "Kafka does not answer")
        expect_problem(await http.get("/v1/sessions/s", headers=service.auth("acme")), 503, "Redis does not answer")
    checks = await readiness_checks(settings)
    assert {name: check.ok for name, check in checks.items()} == {
        "control": False,
        "kafka": False,
        "clock": True,
        "store": True,
        "redis": False,
        "embedder": True,
    }


async def test_no_request_is_admitted_without_the_control_log(service: RunningService, closed_address: str) -> None:
    settings = service.settings.model_copy(
        update={
            "kafka": service.settings.kafka.model_copy(update={"bootstrap": closed_address, "request_timeout_s": 1.0}),
            "service": service.settings.service.model_copy(update={"produce_timeout_s": 1.0}),
        }
    )
    async with serving(settings, patience_s=0) as http:
        for headers in (service.auth("acme"), {"X-API-Key": "vk_nobodys"}):
            refused = await http.post("/v1/recall", json={"query": "x"}, headers=headers)
            expect_problem(refused, 503, "control log does not answer")
            assert int(refused.headers["retry-after"]) > 0
        expect_problem(await http.post("/v1/recall", json={"query": "x"}), 401, "send the tenant's API key")


async def test_the_service_is_ready_without_redis(service: RunningService, closed_address: str) -> None:
    settings = service.settings.model_copy(
        update={"redis": service.settings.redis.model_copy(update={"url": f"redis://{closed_address}/0"})}
    )
    checks = await readiness_checks(settings)
    assert [name for name, check in checks.items() if not check.ok] == ["redis"]
    assert not checks["redis"].needed


async def test_a_recall_without_the_store_is_unavailable(service: RunningService, tmp_path: Path) -> None:
    settings = service.settings.model_copy(update={"store": StoreSettings(socket=tmp_path / "none.sock")})
    async with serving(settings, patience_s=0) as http:
        expect_problem(
            await http.post("/v1/recall", json={"query": "x"}, headers=service.auth("acme")), 503, "vector store does not answer"
        )
        expect_problem(await http.get(f"/v1/memories/{OSLO.id}", headers=service.auth("acme")), 503, "vector store does not answer")
    store = (await readiness_checks(settings))["store"]
    assert (store.ok, store.needed) == (False, True)
