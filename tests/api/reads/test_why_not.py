"""``why_not`` explains where a memory or a message stopped, on a real Kafka, Redis, Edge store and embedding model."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from runtime.redis.session_tail import SessionView, TailUpdate, TailWindow
from tests.api.running_service import (
    BERLIN,
    CAT,
    LIMA,
    OSLO,
    PROFILE,
    RunningService,
    expect_problem,
    index,
    memory,
)

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

BODY = {"query": "Where does Ann live now?", "user": "ann"}


async def ask(service: RunningService, **body: Any) -> dict[str, dict[str, Any]]:
    response = await service.http.post("/v1/recall", json={**BODY, **body}, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    return {each["id"]: {name: value for name, value in each.items() if value not in (None, [])} for each in response.json()["why_not"]}


async def test_the_outcome_of_a_memory_is_explained(service: RunningService) -> None:
    again = memory("acme", "ann", "Ann has a cat called Miso!", message_ids=["ann-m9"], event_time=datetime(2020, 1, 1, tzinfo=UTC))
    gone = memory("acme", "ann", "Ann has a dog", expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    await index(service.settings, [again, gone])
    found = await ask(service, limit=1, why_not=[OSLO.id, CAT.id, again.id, gone.id, BERLIN.id, PROFILE.id, LIMA.id])
    assert [each["outcome"] for each in found.values()] == ["returned", "rank", "duplicate", "expired", "filter", "returned", "unknown"]
    assert (found[OSLO.id]["rank"], found[CAT.id]["rank"]) == (1, 2)
    assert found[again.id]["of"] == CAT.id
    assert found[BERLIN.id]["filter"] == "user"
    assert found[LIMA.id] == {"id": LIMA.id, "outcome": "unknown"}


async def test_explain_lists_the_outcome_of_each_candidate(service: RunningService) -> None:
    again = memory("acme", "ann", "Ann has a cat called Miso!", message_ids=["ann-m9"], event_time=datetime(2020, 1, 1, tzinfo=UTC))
    await index(service.settings, [again])
    response = await service.http.post("/v1/recall", json={**BODY, "limit": 1, "explain": True}, headers=service.auth("acme"))
    answer = response.json()
    best, second, repetition = answer["candidates"]
    assert [(each["id"], each["outcome"], each["rank"], each["of"]) for each in answer["candidates"]] == [
        (OSLO.id, "returned", 1, None),
        (CAT.id, "rank", 2, None),
        (again.id, "duplicate", None, CAT.id),
    ]
    (result,) = answer["results"]
    assert (best["score"], best["ranks"]) == (result["score"], result["ranks"])
    assert best["score"] >= second["score"] == repetition["score"]
    assert {"origin", "dense", "late"} <= second["parts"].keys()
    counts = {each["name"]: (each["given"], each["found"]) for each in answer["steps"]}
    assert (counts["retrieve"], counts["deduplicate"], counts["cut"]) == ((None, 3), (3, 2), (2, 1))
    names = [each["name"] for each in answer["steps"]]
    assert [name for name in names if name not in ("entities", "session_tail")] == ["retrieve", "score", "rank", "deduplicate", "cut"]
    assert all(0 <= each["ms"] <= answer["ms"] for each in answer["steps"])
    plain = (await service.http.post("/v1/recall", json={**BODY, "limit": 1}, headers=service.auth("acme"))).json()
    assert {"candidates", "steps"}.isdisjoint(plain)


@pytest.mark.parametrize(
    ("narrowed", "name"),
    [
        ({"types": ["mood"]}, "types"),
        ({"kinds": ["summary"]}, "kinds"),
        ({"sessions": ["s"]}, "sessions"),
        ({"keys": ["ann/oslo"]}, "keys"),
        ({"since": "2024-06-01T00:00:00Z"}, "since"),
        ({"as_of": "2024-05-06T11:00:00Z"}, "as_of"),
    ],
)
async def test_a_filter_that_stops_a_memory_is_named(service: RunningService, narrowed: dict[str, Any], name: str) -> None:
    found = await ask(service, **narrowed, why_not=[OSLO.id])
    assert found[OSLO.id].items() >= {"id": OSLO.id, "what": "memory", "outcome": "filter", "filter": name}.items()


async def test_a_date_passes_every_filter_that_it_may(service: RunningService) -> None:
    may = memory("acme", "ann", "Ann lived in Bergen then", event_time=datetime(2024, 5, 1, tzinfo=UTC), date="2024-05")
    await index(service.settings, [may])
    assert "filter" not in (await ask(service, since="2024-05-31T00:00:00Z", why_not=[may.id]))[may.id]
    assert (await ask(service, since="2024-06-01T00:00:00Z", why_not=[may.id]))[may.id]["filter"] == "since"


async def test_the_outcome_of_a_message_is_explained(service: RunningService) -> None:
    lyon = memory("acme", "ann", "Ann spent a week in Lyon", session="trip", message_ids=["t1"])
    await index(service.settings, [lyon])
    closed, opened = (
        TailWindow(n, tuple(orjson.dumps({"id": each, "user": "ann"}) for each in ids)) for n, ids in enumerate((("t1", "t2"), ("t3",)))
    )
    await service.tail.write([TailUpdate("acme", "trip", SessionView(closed=closed, open=opened), 0, 3)])
    found = await ask(service, session="trip", why_not=["t1", "t2", "t3", "t4"], limit=100)
    assert {each: fate["outcome"] for each, fate in found.items()} == {
        "t1": "returned",
        "t2": "dropped",
        "t3": "window_open",
        "t4": "unknown",
    }
    assert (found["t1"]["what"], found["t1"]["memory"]) == ("message", lyon.id)
    waiting = TailWindow(7, (orjson.dumps({"id": "w1", "user": "ann"}),))
    await service.tail.write([TailUpdate("acme", "waiting", SessionView(closed=waiting), 0, 3)])
    assert (await ask(service, session="waiting", why_not=["w1"]))["w1"]["outcome"] == "not_extracted"


async def test_a_message_names_the_entity_field_using_it(service: RunningService) -> None:
    moved = memory("acme", "eva", "I moved to Bergen last week", session="s", message_ids=["e1"])
    profile = memory(
        "acme",
        "eva",
        "Profile of Eva: home: Bergen; moves: 2",
        kind="entity",
        type="user_profile",
        entity_key="eva",
        properties={"user": "eva", "home": "Bergen", "moves": 2},
        message_ids=["e2", "e1", "e0"],
    )
    await index(service.settings, [moved, profile])
    body = {"query": "Where does Eva live?", "user": "eva"}
    found = await ask(service, **body, why_not=["e1", moved.id, "e0", "e9"])
    home = {"memory": profile.id, "kind": "entity", "type": "user_profile", "property": "home"}
    assert (found["e1"]["memory"], found["e1"]["used_by"]) == (moved.id, [home])
    assert found[moved.id]["used_by"] == [home]
    assert found["e0"] == {"id": "e0", "what": "message", "outcome": "used", "used_by": [{**home, "property": None}]}
    assert found["e9"] == {"id": "e9", "outcome": "unknown"}


async def test_a_user_key_learns_nothing_about_other_users(service: RunningService) -> None:
    body = {"query": "Where?", "why_not": [BERLIN.id, "bob-m1", LIMA.id]}
    answer = (await service.http.post("/v1/recall", json=body, headers=service.auth("acme/ann"))).json()
    assert {each["outcome"] for each in answer["why_not"]} == {"unknown"}


async def test_too_many_questions_are_refused(service: RunningService) -> None:
    body = {**BODY, "why_not": ["m"] * 21}
    expect_problem(await service.http.post("/v1/recall", json=body, headers=service.auth("acme")), 422, "why_not")
