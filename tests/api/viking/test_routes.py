"""VikingDB's paths on a real Kafka, Redis, Edge store and embedding model: tenants, keys, weights and errors."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import pytest_asyncio

from runtime.settings import VikingSettings
from tests.api.running_service import CAT, LIMA, OSLO, PROFILE, RunningService, index, memory, serving

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

OF_ANN: dict[str, Any] = {"user_id": "ann", "memory_type": "sys_event_v1"}


class Viking:
    """A client of one service."""

    def __init__(self, service: RunningService, http: httpx.AsyncClient) -> None:
        self.service = service
        self._http = http

    async def post(self, path: str, key: str = "acme", *, status: int = 200, **body: Any) -> dict[str, Any]:
        """The response to a request about the collection."""
        fields = {"collection_name": "companion", "project_name": "default", **body}
        response = await self._http.post(f"/api/memory{path}", json=fields, headers=self.service.auth(key))
        assert response.status_code == status, response.text
        found: dict[str, Any] = response.json()
        return found

    async def raw(self, method: str, path: str, *, content: bytes | None = None, headers: dict[str, str]) -> httpx.Response:
        """A response."""
        return await self._http.request(method, f"/api/memory{path}", content=content, headers=headers)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def viking(service: RunningService) -> AsyncIterator[Viking]:
    async with serving(service.settings.model_copy(update={"viking": VikingSettings(enabled=True)})) as http:
        yield Viking(service, http)


def ids(response: dict[str, Any]) -> list[str]:
    return [each["id"] for each in response["data"]["result_list"]]


async def test_the_paths_are_off_by_default(service: RunningService) -> None:
    response = await service.http.post("/api/memory/search", json={"filter": OF_ANN}, headers=service.auth("acme"))
    assert response.status_code == 404


@pytest.mark.parametrize("query", [None, "Where did Ann move to?"])
async def test_a_tenant_sees_its_own_memories_only(viking: Viking, query: str | None) -> None:
    assert set(ids(await viking.post("/event/search", query=query, filter=OF_ANN))) == {OSLO.id, CAT.id}
    assert ids(await viking.post("/event/search", "umbrella", query=query, filter=OF_ANN)) == [LIMA.id]


async def test_a_key_of_one_user_reads_no_other(viking: Viking) -> None:
    assert set(ids(await viking.post("/search", "acme/ann", filter=OF_ANN))) == {OSLO.id, CAT.id}
    refused = await viking.post("/search", "acme/bob", status=403, filter=OF_ANN)
    assert refused["code"] == 1000001
    assert "bound to another user" in refused["message"]


async def test_a_key_of_one_user_sends_messages(viking: Viking) -> None:
    sent: dict[str, Any] = {"messages": [{"role": "user", "content": "I like tea."}], "metadata": {"default_user_id": "ann"}}
    assert (await viking.post("/session/add", "acme/ann", session_id="tea", **sent))["data"] == {"session_id": "tea"}
    assert (await viking.post("/session/add", "acme/bob", status=403, **sent))["code"] == 1000001


async def test_weights_of_time_and_importance_rank(viking: Viking) -> None:
    old = memory("acme", "pam", "Pam moved to Porto in 2001", importance=0.9, event_time=datetime(2001, 1, 1, tzinfo=UTC))
    new = memory("acme", "pam", "Pam moved to Turin", importance=0.1, event_time=datetime.now(UTC))
    await index(viking.service.settings, [old, new])
    asked: dict[str, Any] = {"query": "Did Pam move to Porto in 2001?", "filter": {"user_id": "pam"}}
    assert ids(await viking.post("/event/search", **asked)) == [old.id, new.id]
    by_time: dict[str, Any] = {"time_decay_config": {"weight": 0.95, "no_decay_period": 0}}
    assert ids(await viking.post("/event/search", **asked, **by_time)) == [new.id, old.id]
    by_both = await viking.post("/event/search", **asked, time_decay_config={"weight": 0.2}, custom_weight=0.8)
    assert ids(by_both) == [old.id, new.id]
    first = by_both["data"]["result_list"][0]
    assert first["custom_weight_score"] == pytest.approx(0.9)
    assert first["score"] == pytest.approx(0.2 * first["time_score"] + 0.8 * 0.9)
    without_query = await viking.post("/event/search", filter={"user_id": "pam"}, custom_weight=0.9)
    assert ids(without_query) == [new.id, old.id]
    assert (await viking.post("/event/search", status=422, **asked, time_decay_config={"weight": 0.6}, custom_weight=0.5))[
        "code"
    ] == 1000003


async def test_limits_cut_results(viking: Viking) -> None:
    assert len(ids(await viking.post("/search", filter=OF_ANN, limit=1))) == 1
    for limit in (0, 5001, "3", True):
        assert "limit" in (await viking.post("/search", status=400, filter=OF_ANN, limit=limit))["message"]


async def test_profiles_are_found_by_type(viking: Viking) -> None:
    found = await viking.post("/profile/search", filter={"user_id": "ann", "memory_type": ["user_profile"]})
    assert ids(found) == [PROFILE.id]
    assert found["data"]["result_list"][0]["memory_info"]["user_profile"] == PROFILE.content
    refused = await viking.post("/profile/search", status=400, filter=OF_ANN)
    assert (refused["code"], "search_event_memory" in refused["message"]) == (1000019, True)


@pytest.mark.parametrize(
    ("collection", "code"),
    [
        ({"collection_name": "meetings"}, 1000005),
        ({"project_name": "umbrella"}, 1000005),
        ({"resource_id": "col-1"}, 1000005),
        ({"collection_name": None}, 1000003),
        ({"collection_name": 7}, 1000003),
    ],
)
async def test_other_collections_do_not_exist(viking: Viking, collection: dict[str, Any], code: int) -> None:
    assert (await viking.post("/search", status=400, filter=OF_ANN, **collection))["code"] == code


async def test_a_collection_has_a_name_or_resource_id(viking: Viking) -> None:
    for named in ({"project_name": "acme"}, {"collection_name": None, "resource_id": "companion"}):
        assert (await viking.post("/search", filter=OF_ANN, **named))["code"] == 0


@pytest.mark.parametrize(
    ("path", "instead"),
    [
        ("/get_context", "/v1/context"),
        ("/session/streaming_write", "/v1/messages"),
        ("/collection/create", "schema of a tenant"),
        ("/unknown", "/openapi.json"),
    ],
)
async def test_unsupported_paths_name_the_alternative_in_varve(viking: Viking, path: str, instead: str) -> None:
    refused = await viking.post(path, status=400)
    assert (refused["code"], instead in refused["message"]) == (1000003, True)


async def test_broken_requests_get_codes(viking: Viking) -> None:
    auth = viking.service.auth("acme")
    for content in (b"{", b"[]", b"\xff"):
        response = await viking.raw("POST", "/search", content=content, headers=auth)
        assert (response.status_code, response.json()["code"]) == (400, 1000003)
    assert (await viking.raw("GET", "/ping", headers={})).json()["code"] == 1000001
    answer = await viking.raw("GET", "/ping", headers=auth)
    assert (answer.status_code, answer.json()["data"], len(answer.json()["request_id"])) == (200, {"tenant": "acme"}, 32)
