"""What the service answers: recalls, memories, entities, sessions, and how it is."""

import asyncio
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from aiokafka import TopicPartition

from memory.hashing import content_hash
from memory.keys import encode_key, partition_of
from memory.records import RecallRecord
from runtime.session_tail import SessionView, TailUpdate, TailWindow
from tests.retrieval.service.world import (
    BERLIN,
    CAT,
    ENTITY,
    LIMA,
    OSLO,
    PARTITIONS,
    PLACE,
    World,
    end,
    problem,
    record_at,
)

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]


async def test_a_recall_answers_with_evidence_entities_and_tail(world: World) -> None:
    await world.tail.write([TailUpdate("acme", "talk", SessionView(open=TailWindow(4, (b'{"text":"hello"}',))))])
    before = sum((await end(world, "recalls")).values())
    body = {"query": "Where does Ann live now?", "user": "ann", "session": "talk", "limit": 2, "explain": True}
    response = await world.http.post("/v1/recall", json=body, headers=world.of("acme"))
    assert response.status_code == 200, response.text
    answer = response.json()
    assert len(answer["results"]) == 2
    assert {result["id"] for result in answer["results"]} == {OSLO.id, ENTITY.id}
    first = answer["results"][0]
    assert first["evidence"] == ["ann-m1", "ann-m2"]
    assert 0 < first["score"] <= 1
    assert "origin" in first["parts"]
    assert "tenant" not in first
    assert [entity["id"] for entity in answer["entities"]] in ([ENTITY.id], [])
    assert answer["session"]["messages"] == [{"window_sequence": 4, "message": {"text": "hello"}}]
    assert answer["session"]["open_window"] == {"sequence": 4, "message_count": 1}
    assert answer["degraded"] == []
    record = await _new_recall(world, before)
    assert record.id == answer["recall_id"]
    assert (record.tenant, record.user, set(record.memory_ids)) == ("acme", "ann", {OSLO.id, ENTITY.id})
    async with asyncio.timeout(10):
        while (hashes := await world.recalled.of("acme", "ann", until=datetime.now(UTC))) != frozenset(record.content_hashes):
            assert not hashes
    assert content_hash(OSLO.content) in record.content_hashes


async def test_entities_that_a_recall_shows_are_known_again_like_its_results(world: World) -> None:
    before = sum((await end(world, "recalls")).values())
    body = {"query": "Where does Ann live now?", "user": "ann", "kinds": ["event"]}
    answer = (await world.http.post("/v1/recall", json=body, headers=world.of("acme"))).json()
    record = await _new_recall(world, before)

    assert [entity["id"] for entity in answer["entities"]] == [ENTITY.id]
    assert set(record.memory_ids) == {OSLO.id, CAT.id}
    assert set(record.content_hashes) == {content_hash(each.content) for each in (OSLO, CAT, ENTITY)}


async def _new_recall(world: World, before: int) -> RecallRecord:
    async with asyncio.timeout(20):
        while sum((ends := await end(world, "recalls")).values()) == before:
            assert ends
    partition = TopicPartition(world.settings.topic("recalls"), partition_of(encode_key("acme", "ann"), PARTITIONS))
    place = {"topic": partition.topic, "partition": partition.partition, "offset": ends[partition] - 1}
    return RecallRecord.from_json((await record_at(world, place)).value)


async def test_a_recall_narrows_as_it_is_asked(world: World) -> None:
    async def ids(**body: Any) -> set[str]:
        response = await world.http.post("/v1/recall", json={"query": "Who moved where?", **body}, headers=world.of("acme"))
        assert response.status_code == 200, response.text
        return {result["id"] for result in response.json()["results"]}

    assert await ids() == {OSLO.id, CAT.id, BERLIN.id, ENTITY.id}
    assert await ids(user="bob") == {BERLIN.id}
    assert await ids(kinds=["entity"]) == {ENTITY.id}
    assert await ids(types=["life_event"], user="ann") == {OSLO.id, CAT.id}
    assert await ids(since="2024-05-06T12:00:01Z") == set()
    assert len(await ids(limit=1)) == 1


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({}, "query"),
        ({"query": " "}, "query"),
        ({"query": "x", "tenant": "umbrella"}, "tenant"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "kinds": ["dream"]}, "kinds.0"),
        ({"query": "x", "since": "2024-05-06T12:00:00"}, "since"),
    ],
)
async def test_a_recall_that_is_no_question_is_refused(world: World, body: dict[str, Any], word: str) -> None:
    problem(await world.http.post("/v1/recall", json=body, headers=world.of("acme")), 422, word)


async def test_a_memory_and_an_entity_are_found_by_name(world: World) -> None:
    memory = (await world.http.get(f"/v1/memories/{OSLO.id}", headers=world.of("acme"))).json()
    assert (memory["content"], memory["evidence"], memory["event_time"]) == (OSLO.content, OSLO.message_ids, "2024-05-06T12:00:00Z")
    for path in (f"/v1/entities/user_profile/{PLACE}", "/v1/entities/user%5Fprofile/ann%2f1/Z%C3%BCrich"):
        response = await world.http.get(path, headers=world.of("acme"))
        assert response.json()["id"] == ENTITY.id, response.text
    problem(await world.http.get(f"/v1/memories/{uuid.uuid4()}", headers=world.of("acme")), 404, "no memory")
    problem(await world.http.get("/v1/memories/no-uuid", headers=world.of("acme")), 404, "no memory")
    problem(await world.http.get("/v1/entities/user_profile/ann/1/Z%C3%BCrich", headers=world.of("acme")), 404, "no entity")
    problem(await world.http.get("/v1/entities/user_profile//x", headers=world.of("acme")), 404, "no entity")


async def test_a_tenant_never_sees_anothers_data(world: World) -> None:
    await world.tail.write([TailUpdate("acme", "secret", SessionView(open=TailWindow(0, (b'{"text":"hush"}',))))])
    umbrella = world.of("umbrella")
    for memory in (OSLO, CAT, BERLIN, ENTITY):
        problem(await world.http.get(f"/v1/memories/{memory.id}", headers=umbrella), 404, "no memory")
    problem(await world.http.get(f"/v1/entities/user_profile/{PLACE}", headers=umbrella), 404, "no entity")
    session = (await world.http.get("/v1/sessions/secret", headers=umbrella)).json()
    assert (session["messages"], session["open_window"]) == ([], None)
    body = {"query": "Where does Ann live?", "session": "secret", "user": "ann", "limit": 100}
    answer = (await world.http.post("/v1/recall", json=body, headers=umbrella)).json()
    assert [result["id"] for result in answer["results"]] == [LIMA.id]
    assert answer["entities"] == []
    assert answer["session"]["messages"] == []


async def test_a_session_shows_its_tail_and_open_window(world: World) -> None:
    closed, opened = TailWindow(0, (b'{"text":"one"}',)), TailWindow(1, (b'{"text":"two"}',))
    await world.tail.write([TailUpdate("acme", "a/b", SessionView(closed=closed, open=opened))])
    answer = (await world.http.get("/v1/sessions/a%2Fb", headers=world.of("acme"))).json()
    assert answer == {
        "session": "a/b",
        "messages": [
            {"window_sequence": 0, "message": {"text": "one"}},
            {"window_sequence": 1, "message": {"text": "two"}},
        ],
        "open_window": {"sequence": 1, "message_count": 1},
    }


async def test_health_readiness_metrics_and_the_api_are_open(world: World) -> None:
    assert (await world.http.get("/healthz")).json() == {"status": "ok"}
    ready = await world.http.get("/readyz")
    assert ready.status_code == 200, ready.text
    assert {name: check["ok"] for name, check in ready.json()["checks"].items()} == dict.fromkeys(
        ("kafka", "store", "redis", "embedder"), True
    )
    metrics = (await world.http.get("/metrics")).text
    assert 'route="/readyz",status="200"' in metrics
    paths = (await world.http.get("/openapi.json")).json()["paths"]
    schema = paths["/v1/messages"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert "tenant" not in schema["anyOf"][0]["properties"]
