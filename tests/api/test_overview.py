"""The progress of the stages: operators see lag and rates of all tenants, a tenant sees freshness and its own numbers."""

from datetime import UTC, datetime

import pytest

from api.stage_overview import StageOverview
from runtime.clocks import SystemClock
from runtime.kafka import create_topics
from runtime.settings import Settings
from streams.stages.catalog import STAGES
from tests.api.running_service import RunningService, bearer, expect_problem
from tests.control_log import add_operator
from tests.one_broker import one_broker
from tests.streams.harness import until_true

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]


async def _operator(service: RunningService) -> dict[str, str]:
    headers = bearer(await add_operator(service.settings, role="viewer"))

    async def is_known() -> bool:
        return (await service.http.get("/v1/admin/tenants", headers=headers)).status_code == 200

    await until_true(is_known)
    return headers


async def test_operators_see_the_lag_of_each_stage(service: RunningService) -> None:
    headers = await _operator(service)
    before = (await service.http.get("/v1/admin/overview", headers=headers)).json()
    assert [each["name"] for each in before["stages"]] == [*STAGES]
    lag = before["stages"][0]["lag"]
    sent = [{"user": "ann", "session": "overview", "text": f"message {number}"} for number in range(3)]
    assert (await service.http.post("/v1/messages", json=sent, headers=service.auth("acme"))).status_code == 200

    async def is_counted() -> bool:
        """A reading is at most two seconds old."""
        now = (await service.http.get("/v1/admin/overview", headers=headers)).json()
        return bool(now["stages"][0]["lag"] == lag + 3)

    await until_true(is_counted)
    shown = (await service.http.get("/v1/admin/overview", headers=headers)).json()
    sessions = shown["stages"][0]
    assert sessions["oldest_s"] > 0
    assert (sessions["rate"], shown["over_s"] > 0) == (0.0, True)
    assert shown["rates"][-1]["stages"]["sessions"] == 0.0


async def test_a_tenant_sees_no_numbers_of_others(service: RunningService) -> None:
    async def is_counted() -> bool:
        shown = (await service.http.get("/v1/overview", headers=service.auth("umbrella"))).json()
        return shown["memories"] is not None

    await until_true(is_counted)
    shown = (await service.http.get("/v1/overview", headers=service.auth("umbrella"))).json()
    assert (shown["memories"], shown["rates"], shown["over_s"]) == (1, [], None)
    assert {each["parked"] for each in shown["stages"]} == {0}
    for name in ("lag", "rate", "retention_left_s", "unfinished"):
        assert {each[name] for each in shown["stages"]} == {None}
    bound = (await service.http.get("/v1/overview", headers=service.auth("acme/ann"))).json()
    assert bound["memories"] is None
    assert {each["parked"] for each in bound["stages"]} == {None}
    expect_problem(await service.http.get("/v1/admin/overview", headers=service.auth("acme")), 401, "operator")


async def test_rates_are_of_the_time_between_readings(kafka: str, topic_prefix: str) -> None:
    settings = Settings(kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=1))
    await create_topics(settings)
    now = 0.0
    overview = StageOverview(settings=settings, clock=SystemClock(), monotonic=lambda: now)
    first = await overview.read()
    assert first.rates is None
    now = 1.0
    assert await overview.read() is first, "a reading serves all requests of two seconds"
    now = 10.0
    second = await overview.read()
    assert second.rates is not None
    assert (second.rates.over_s, second.rates.stages["events"], len(second.history)) == (10.0, 0.0, 1)
    now = 100.0
    late = await overview.read()
    assert late.rates is None, "a rate over more than a minute is not a current one"
    assert len(late.history) == 1
    assert late.at <= datetime.now(UTC)
    await overview.close()
    now = 110.0
    assert (await overview.read()).rates is not None, "it connects again"
    await overview.close()
