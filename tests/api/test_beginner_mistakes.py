"""Mistakes of beginners: each error says what was wrong, where, and what to send instead."""

from typing import Any

import pytest

from tests.api.running_service import RunningService, expect_problem

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

MESSAGE = {"user": "ann", "session": "s", "text": "I like tea."}


@pytest.mark.parametrize(
    ("request_of", "status", "told"),
    [
        (
            ("POST", "/v1/messages", {"json": {**MESSAGE, "event_time": "2024-05-06"}}),
            422,
            "a day needs a time, too: write 2024-05-06T00:00:00Z",
        ),
        (("POST", "/v1/messages", {"json": {**MESSAGE, "role": "human"}}), 422, "did you mean 'user'?"),
        (("POST", "/v1/messages", {"content": b""}), 422, "the body is empty"),
        (("POST", "/v1/messages", {"content": b"{'user': 'ann'}"}), 422, "JSON has double quotes around names and texts"),
        (("POST", "/v1/messages", {"data": MESSAGE}), 422, "the body is a form"),
        (("POST", "/v1/recall", {"json": {"query": "x", "kinds": "event"}}), 422, "kinds: Input should be a list, such as"),
        (("POST", "/v1/recall", {"json": {"query": "x", "kinds": ["events"]}}), 422, "did you mean 'event'?"),
        (("POST", "/v1/feedback", {"json": {"recall_id": "0"}}), 422, "name at least one memory in useful or in useless"),
        (("POST", "/v1/recall", {"json": {"query": "x", "since": "2024"}}), 422, "since: a number this small would be a time in 1970"),
        (("GET", "/v1/memories?until=2024", {}), 422, "query.until: a number this small would be a time in 1970"),
        (("GET", "/v1/entities/user_profile/ann?as_of=2024", {}), 422, "query.as_of: a number this small would be a time in 1970"),
        (("GET", "/v1/memories?kinds=event,summary", {}), 422, "repeat the parameter for each value"),
        (("GET", "/v1/memories?kind=event", {}), 422, "kind (did you mean 'kinds'?)"),
        (("POST", "/recall", {"json": {"query": "x"}}), 404, "did you mean /v1/recall?"),
        (("POST", "/v1/search", {"json": {"query": "x"}}), 404, "did you mean /v1/recall?"),
        (("POST", "/v1/messages/", {"json": MESSAGE}), 404, "did you mean /v1/messages?"),
        (("GET", "/v1/memory", {}), 404, "did you mean /v1/memories?"),
        (("GET", "/v1/" + "x" * 300, {}), 404, "there is no such route: GET /openapi.json"),
        (("PUT", "/v1/memories/m", {"json": {}}), 405, "this route does not accept PUT, only DELETE, GET, PATCH"),
    ],
)
async def test_a_mistake_is_explained(request_of: tuple[str, str, dict[str, Any]], status: int, told: str, service: RunningService) -> None:
    method, path, options = request_of
    response = await service.http.request(method, path, headers=service.auth("acme"), **options)
    assert told in expect_problem(response, status, "")["detail"]
    if status == 405:
        assert response.headers["Allow"] == "DELETE, GET, PATCH"


async def test_a_key_without_its_scheme_is_explained(service: RunningService) -> None:
    key = service.auth("acme")["Authorization"].removeprefix("Bearer ")
    for header in (key, f"Token {key}"):
        response = await service.http.get("/v1/status", headers={"Authorization": header})
        expect_problem(response, 401, "has no `Bearer ` before the key")
