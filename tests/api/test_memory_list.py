"""``GET /v1/memories`` and ``GET /v1/status``: pages, filters, and no other tenant's memories, on real servers."""

from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from tests.api.running_service import NOON, RunningService, expect_problem, index, memory, serving, when_known
from tests.control_log import add_key

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

LISTED = [
    memory("acme", "cleo", f"Cleo wrote poem {number}", type="fact", session="poems", event_time=NOON + timedelta(days=number))
    for number in range(12)
]
FALSE = memory("acme", "cleo", "Cleo hates poems", type="fact", expires_at=NOON)
PERIOD = memory("acme", "cleo", "A week of poems", type="user_profile", kind="summary")


@pytest_asyncio.fixture(autouse=True, scope="module", loop_scope="module")
async def indexed(service: RunningService) -> None:
    await index(service.settings, [*LISTED, FALSE, PERIOD])


async def pages(service: RunningService, caller: str = "acme", **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        response = await service.http.get("/v1/memories", params={**query, **after}, headers=service.auth(caller))
        assert response.status_code == 200, response.text
        page = response.json()
        assert len(page["memories"]) <= query.get("limit", 50)
        found += page["memories"]
        if page["next"] is None:
            return found
        after = {"after": page["next"]}


@pytest.mark.parametrize("limit", [1, 5, 12, 13, 200])
async def test_pages_contain_each_memory_once(service: RunningService, limit: int) -> None:
    ids = [each["id"] for each in await pages(service, user="cleo", types="fact", limit=limit)]
    assert ids == sorted(each.id for each in LISTED), "without the invalidated one"


@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("limit", [1, 5, 200])
async def test_pages_by_time_contain_each_memory_once(service: RunningService, order: str, limit: int) -> None:
    found = [each["content"] for each in await pages(service, user="cleo", types="fact", order=order, limit=limit)]
    oldest_first = [each.content for each in LISTED]
    assert found == (oldest_first[::-1] if order == "newest" else oldest_first)


@pytest.mark.parametrize(
    ("query", "contents"),
    [
        ({"user": "cleo", "kinds": "summary"}, {"A week of poems"}),
        ({"user": "cleo", "kinds": ["summary", "entity"], "types": ["fact", "user_profile"]}, {"A week of poems"}),
        ({"session": "poems", "since": "2024-05-16T12:00:00Z"}, {"Cleo wrote poem 10", "Cleo wrote poem 11"}),
        ({"session": "poems", "until": "2024-05-07T12:00:00Z"}, {"Cleo wrote poem 0"}),
        ({"user": "nobody"}, set()),
        ({"session": "none"}, set()),
    ],
)
async def test_filters_narrow_the_list(service: RunningService, query: dict[str, Any], contents: set[str]) -> None:
    assert {each["content"] for each in await pages(service, **query)} == contents


async def test_a_list_shows_only_memories_visible_to_the_key(service: RunningService) -> None:
    everyone = await pages(service)
    assert {each["user"] for each in everyone} == {"ann", "bob", "cleo"}
    assert all("tenant" not in each and "search_text" not in each and each["evidence"] for each in everyone)
    assert {each["user"] for each in await pages(service, "acme/ann")} == {"ann"}
    assert [each["content"] for each in await pages(service, "umbrella")] == ["Ann moved to Lima in January 2021"]
    refused = await service.http.get("/v1/memories", params={"user": "bob"}, headers=service.auth("acme/ann"))
    expect_problem(refused, 403, "another user")
    after = {"after": LISTED[5].id}
    foreign = await service.http.get("/v1/memories", params=after, headers=service.auth("umbrella"))
    assert {each["user"] for each in foreign.json()["memories"]} <= {"ann"}


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ({"after": "x"}, "after: this is not the `next`"),
        ({"after": LISTED[5].id, "order": "newest"}, "after: this is not the `next` of a page of this order"),
        ({"after": f"1714996800000000_{LISTED[5].id}"}, "after: this is not the `next` of a page of this order"),
        ({"order": "time"}, "order: Input should be 'id', 'newest' or 'oldest'"),
        ({"limit": 0}, "limit"),
        ({"limit": 201}, "limit"),
        ({"kinds": "note"}, "kinds"),
        ({"since": "2024-05-06"}, "since"),
        ({"since": "soon"}, "since"),
        ({"user": ""}, "user"),
        (
            {"usr": "cleo"},
            "query.usr (did you mean 'user'?): unknown parameter; expected some of: after, kinds, limit, min_trust, order, session",
        ),
        ({"user": ["ann", "bob"]}, "query.user: given more than once; this parameter has one value"),
        ({"user": ["bob", "ann"], "kinds": ["event", "entity"]}, "query.user: given more than once"),
        ({"after": [LISTED[0].id] * 2, "limit": [1, 1]}, "query.after, limit: given more than once"),
        ({"since": "2024-05-07T00:00:00Z", "until": "2024-05-06T00:00:00Z"}, "since must be before until"),
    ],
)
async def test_wrong_filters_are_named(service: RunningService, query: dict[str, Any], detail: str) -> None:
    expect_problem(await service.http.get("/v1/memories", params=query, headers=service.auth("acme")), 422, detail)


async def test_a_list_needs_the_scope_recall(service: RunningService) -> None:
    sends = await when_known(service, await add_key(service.settings, "acme", scopes=("ingest",)))
    expect_problem(await service.http.get("/v1/memories", headers=sends), 403, "lacks the scope recall")


async def test_lists_count_as_recalls(service: RunningService) -> None:
    quota = service.settings.quota.model_copy(update={"recalls_per_second": 0.01, "burst_s": 100.0})
    async with serving(service.settings.model_copy(update={"quota": quota})) as http:
        answers = [await http.get("/v1/memories", headers=service.auth("umbrella")) for _ in range(3)]
    assert [each.status_code for each in answers] == [200, 429, 429]
    assert answers[1].json()["quota"] == "recalls"


async def test_the_status_shows_the_permissions_of_a_key(service: RunningService) -> None:
    of_tenant = (await service.http.get("/v1/status", headers=service.auth("acme"))).json()
    assert (of_tenant["tenant"], of_tenant["user"], of_tenant["schema"]) == ("acme", None, "companion@1")
    assert of_tenant["scopes"] == ["ingest", "recall", "correct", "operate"], "no key may erase unless that was asked for"
    assert (await service.http.get("/v1/status", headers=service.auth("acme/ann"))).json()["user"] == "ann"
