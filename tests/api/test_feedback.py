"""``POST /v1/feedback`` on a real Kafka."""

from typing import Any

import pytest

from memory.headers import FEEDBACK, KIND
from memory.keys import encode_key
from memory.recall_ids import new_recall_id
from memory.records import FeedbackRecord
from tests.api.running_service import CAT, OSLO, RunningService, expect_problem, record_at

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]


async def test_feedback_is_written_to_the_recalls_partition(service: RunningService) -> None:
    body = {"query": "Where does Ann live now?", "user": "ann"}
    recalled = (await service.http.post("/v1/recall", json=body, headers=service.auth("acme"))).json()
    said = {"recall_id": recalled["recall_id"], "user": "ann", "useful": [OSLO.id], "useless": [CAT.id]}
    response = await service.http.post("/v1/feedback", json=said, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    record = await record_at(service, response.json()["position"])
    assert record.topic == service.settings.topic("recalls")
    assert record.key == encode_key("acme", "ann")
    assert dict(record.headers)[KIND] == FEEDBACK
    feedback = FeedbackRecord.from_json(record.value)
    assert (feedback.tenant, feedback.recall_id, feedback.useful, feedback.useless) == (
        "acme",
        recalled["recall_id"],
        [OSLO.id],
        [CAT.id],
    )


async def test_feedback_is_given_for_ones_own_user(service: RunningService) -> None:
    bound = service.auth("acme/bob")
    said = {"recall_id": new_recall_id("acme", "bob"), "useful": ["m"]}
    taken = (await service.http.post("/v1/feedback", json=said, headers=bound)).json()
    assert FeedbackRecord.from_json((await record_at(service, taken["position"])).value).user == "bob"
    expect_problem(await service.http.post("/v1/feedback", json={**said, "user": "ann"}, headers=bound), 403, "another user")


@pytest.mark.parametrize("user", ["bob", None])
async def test_feedback_on_no_recall_of_the_user_is_refused(service: RunningService, user: str | None) -> None:
    body = {"query": "Where does Ann live now?", "user": "ann"}
    recalled = (await service.http.post("/v1/recall", json=body, headers=service.auth("acme"))).json()
    for recall_id in (recalled["recall_id"], "no-recall", "b7a5c1c2-53c9-4f3f-9f43-7d1f9b0f3d7e"):
        said = {"recall_id": recall_id, "useful": [OSLO.id], "user": user}
        expect_problem(
            await service.http.post("/v1/feedback", json=said, headers=service.auth("acme")), 404, "send the response's recall_id"
        )
    said = {"recall_id": recalled["recall_id"], "useful": [OSLO.id], "user": "ann"}
    expect_problem(await service.http.post("/v1/feedback", json=said, headers=service.auth("umbrella")), 404, "recall_id: ")


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"useful": ["m"]}, "recall_id"),
        ({"recall_id": "r"}, "at least one memory"),
        ({"recall_id": "r", "useful": ["m"], "useless": ["m"]}, "in both useful and useless: m"),
        ({"recall_id": "r", "useful": [7]}, "useful.0"),
        ({"recall_id": "r", "useful": ["m"] * 1001}, "useful"),
        ({"recall_id": "r", "useful": ["m"], "tenant": "umbrella"}, "tenant"),
    ],
)
async def test_malformed_feedback_is_refused(service: RunningService, body: dict[str, Any], detail: str) -> None:
    expect_problem(await service.http.post("/v1/feedback", json=body, headers=service.auth("acme")), 422, detail)
