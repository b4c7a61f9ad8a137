"""Weights of age and importance in a request, on a real Kafka, Redis, Edge store and embedding model."""

from datetime import UTC, datetime
from typing import Any

import pytest

from runtime.settings import RecallSettings
from tests.api.running_service import RunningService, expect_problem, index, memory, serving

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

ASKED: dict[str, Any] = {"query": "Where did Pam move to?", "user": "pam"}
PATHS = ("/v1/recall", "/v1/context")


async def test_a_request_weighs_age_and_importance(service: RunningService) -> None:
    old = memory("acme", "pam", "Pam moved to Porto in 2001", importance=0.9, event_time=datetime(2001, 1, 1, tzinfo=UTC))
    new = memory("acme", "pam", "Pam moved to Turin", importance=0.1, event_time=datetime.now(UTC))
    await index(service.settings, [old, new])

    async def best(**weights: float) -> dict[str, Any]:
        response = await service.http.post("/v1/recall", json={**ASKED, "explain": True, **weights}, headers=service.auth("acme"))
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()["results"][0]
        return found

    fresh, important = await best(time_weight=1), await best(business_weight=0.75, time_weight=0.25)
    assert (fresh["id"], fresh["score"]) == (new.id, 1)
    assert important["id"] == old.id
    parts = important["parts"]
    assert (parts["time"], parts["business"]) == (pytest.approx(0), 0.9)
    assert important["score"] == pytest.approx(0.75 * parts["business"] + 0.25 * parts["time"])


async def test_a_context_weighs_as_a_recall_does(service: RunningService) -> None:
    said = [
        memory("acme", "tom", f"Tom went sailing on the lake, day {day}", event_time=datetime(2000 + day, 1, 1, tzinfo=UTC))
        for day in range(25)
    ]
    await index(service.settings, said)
    body = {"query": "When did Tom go sailing on the lake?", "user": "tom", "tokens": 200, "time_weight": 1}
    citations = (await service.http.post("/v1/context", json=body, headers=service.auth("acme"))).json()["citations"]
    assert [each["id"] for each in citations] == [each.id for each in said[-len(citations) :]]


@pytest.mark.parametrize(
    ("weights", "detail"),
    [
        ({"time_weight": 1.1}, "time_weight"),
        ({"business_weight": -0.1}, "business_weight"),
        ({"time_weight": "much"}, "time_weight"),
        ({"time_weight": 0.6, "business_weight": 0.5}, "time_weight and business_weight: together at most 1, got 0.6 and 0.5"),
    ],
)
@pytest.mark.parametrize("path", PATHS)
async def test_weights_above_one_together_are_refused(service: RunningService, path: str, weights: dict[str, Any], detail: str) -> None:
    expect_problem(await service.http.post(path, json={**ASKED, **weights}, headers=service.auth("acme")), 422, detail)


async def test_one_given_weight_is_combined_with_the_default(service: RunningService) -> None:
    settings = service.settings.model_copy(update={"recall": RecallSettings(business_weight=0.5)})
    async with serving(settings) as http:
        for path in PATHS:
            refused = await http.post(path, json={**ASKED, "time_weight": 0.6}, headers=service.auth("acme"))
            expect_problem(refused, 422, "got 0.6 and 0.5 (VARVE_RECALL__BUSINESS_WEIGHT)")
            taken = await http.post(path, json={**ASKED, "time_weight": 0.6, "business_weight": 0}, headers=service.auth("acme"))
            assert taken.status_code == 200, taken.text
