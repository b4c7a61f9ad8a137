"""The usage of models by day, tenant, stage and model, with the budgets: a tenant sees its own only."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from control.tenant_changes import set_tenant
from memory.keys import encode_key
from memory.records import Usage
from models.llm.budget import Amount
from models.llm.daily_budget import BudgetLedger
from runtime.kafka import OutgoingRecord, Producer
from runtime.redis.client import open_redis
from runtime.settings import BudgetSettings
from tests.api.running_service import RunningService, bearer, expect_problem
from tests.control_log import add_operator, write
from tests.streams.harness import until_true

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

NOW = datetime.now(UTC)


def call(tenant: str, model: str = "small", *, age: timedelta = timedelta(), **fields: Any) -> Usage:
    numbers: dict[str, Any] = {"prompt_tokens": 100, "cached_tokens": 40, "completion_tokens": 10, "cost": 0.5, "latency_ms": 20.0}
    return Usage(**{"tenant": tenant, "stage": "extraction", "model": model, "time": NOW - age, **numbers, **fields})


async def produce(service: RunningService, *calls: Usage) -> None:
    topic = service.settings.topic("usage")
    async with Producer(kafka=service.settings.kafka) as producer:
        for each in calls:
            await producer.send_each([OutgoingRecord(topic, encode_key(each.tenant), each.to_json())])
        await producer.send_each([OutgoingRecord(topic, encode_key("acme"), b"no record of usage")])


async def test_usage_is_summed_and_compared_with_the_budget(service: RunningService) -> None:
    old = call("acme", age=timedelta(days=10))
    await produce(service, call("acme"), call("acme", estimated=True), call("acme", "large", stage="merging"), call("umbrella"), old)
    await write(service.settings, lambda draft: set_tenant(draft, "acme", budget=BudgetSettings(hard_tokens=5000, policy="offline")))
    async with open_redis(service.settings.redis) as redis:
        ledger = BudgetLedger(budget_of=lambda _: BudgetSettings(), redis=redis)
        await ledger.reserve("acme", Amount(330, 1.5), deferrable=False, now=NOW)

    async def budget_is_known() -> bool:
        shown = (await service.http.get("/v1/usage", headers=service.auth("acme"))).json()
        return bool(shown["budgets"][0]["hard_tokens"] == 5000)

    await until_true(budget_is_known)
    shown = (await service.http.get("/v1/usage", headers=service.auth("acme"))).json()
    rows = {(each["tenant"], each["stage"], each["model"]): each for each in shown["rows"]}
    assert set(rows) == {("acme", "extraction", "small"), ("acme", "merging", "large")}
    small = rows["acme", "extraction", "small"]
    assert (small["calls"], small["estimated_calls"], small["prompt_tokens"], small["cost"]) == (2, 1, 200, 1.0)
    assert small["day"] == NOW.date().isoformat()
    (budget,) = shown["budgets"]
    assert (budget["policy"], budget["soft_tokens"], budget["used_tokens"], budget["used_cost"]) == ("offline", None, 330, 1.5)
    assert budget["reextraction_share"] == 0.5, "the service's setting"
    assert (shown["truncated"], shown["priced"]) == (False, False)
    since = (NOW - timedelta(days=20)).isoformat()
    longer = (await service.http.get("/v1/usage", params={"since": since}, headers=service.auth("acme"))).json()
    assert sum(each["calls"] for each in longer["rows"]) == 4
    every = (await service.http.get("/v1/usage", params={"since": "1950-01-01T00:00:00Z"}, headers=service.auth("acme"))).json()
    assert every["rows"] == longer["rows"]


async def test_operators_see_all_tenants_usage(service: RunningService) -> None:
    await produce(service, call("acme"), call("umbrella", prompt_tokens=9000))
    headers = bearer(await add_operator(service.settings, role="viewer"))

    async def is_known() -> bool:
        return (await service.http.get("/v1/admin/usage", headers=headers)).status_code == 200

    await until_true(is_known)
    every = (await service.http.get("/v1/admin/usage", headers=headers)).json()
    assert {each["tenant"] for each in every["rows"]} == {"acme", "umbrella"}
    assert every["budgets"][0]["tenant"] == "umbrella", "the tenant with the most tokens comes first"
    one = (await service.http.get("/v1/admin/usage", params={"tenant": "umbrella"}, headers=headers)).json()
    assert {each["tenant"] for each in (*one["rows"], *one["budgets"])} == {"umbrella"}
    expect_problem(await service.http.get("/v1/admin/usage", params={"tenant": "none"}, headers=headers), 404, "none")
    expect_problem(await service.http.get("/v1/admin/usage", headers=service.auth("acme")), 401, "operator")


async def test_usage_needs_a_tenants_own_key(service: RunningService) -> None:
    expect_problem(await service.http.get("/v1/usage", headers=service.auth("acme/ann")), 403, "not bound to a user")
    expect_problem(await service.http.get("/v1/usage", params={"since": "yesterday"}, headers=service.auth("acme")), 422, "since")
