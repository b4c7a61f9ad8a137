"""The routes that read: recall, memories, entities, sessions, and health."""

import uuid
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from aiokafka import TopicPartition

from memory.keys import encode_key, partition_of
from memory.records import RecallRecord
from memory.texts.text import content_hash
from retrieval.profiles import RANKERS
from runtime.redis.session_tail import SessionView, TailUpdate, TailWindow
from tests.api.running_service import (
    BERLIN,
    CAT,
    ENTITY_KEY,
    LIMA,
    OSLO,
    PARTITIONS,
    PROFILE,
    RunningService,
    end_offsets,
    expect_problem,
    readiness_checks,
    record_at,
)
from tests.waiting import until_async

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]


async def test_a_recall_returns_evidence_entities_and_session_tail(service: RunningService) -> None:
    await service.tail.write([TailUpdate("acme", "talk", SessionView(open=TailWindow(4, (b'{"text":"hello"}',))), 0, 0)])
    before = sum((await end_offsets(service, "recalls")).values())
    body = {"query": "Where does Ann live now?", "user": "ann", "session": "talk", "limit": 2, "explain": True}
    response = await service.http.post("/v1/recall", json=body, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    answer = response.json()
    assert len(answer["results"]) == 2
    assert {result["id"] for result in answer["results"]} == {OSLO.id, CAT.id}
    first = answer["results"][0]
    assert first["id"] == OSLO.id
    assert first["evidence"] == ["ann-m1", "ann-m2"]
    assert first["evidence_scores"] == pytest.approx([first["score"], first["score"] * RANKERS["learned"].evidence_decay])
    assert first["ranks"]["store"] == 1
    assert 0 < first["score"] <= 1
    assert "origin" in first["parts"]
    assert 0 < answer["confidence"] < 1
    assert "tenant" not in first
    assert [entity["id"] for entity in answer["entities"]] == [PROFILE.id]
    assert answer["session"]["messages"] == [{"window_sequence": 4, "message": {"text": "hello"}}]
    assert answer["session"]["open_window"] == {"sequence": 4, "message_count": 1}
    assert answer["degraded"] == []
    record = await _new_recall(service, before)
    assert record.id == answer["recall_id"]
    assert (record.tenant, record.user, set(record.memory_ids)) == ("acme", "ann", {OSLO.id, CAT.id})
    hashes = await until_async(lambda: service.recall_history.of("acme", "ann", until=datetime.now(UTC)))
    assert hashes == frozenset(record.content_hashes)
    assert content_hash(OSLO.content) in record.content_hashes


async def test_returned_entities_are_recorded_as_echoes_like_hits(service: RunningService) -> None:
    before = sum((await end_offsets(service, "recalls")).values())
    body = {"query": "Where does Ann live now?", "user": "ann"}
    answer = (await service.http.post("/v1/recall", json=body, headers=service.auth("acme"))).json()
    record = await _new_recall(service, before)

    assert [entity["id"] for entity in answer["entities"]] == [PROFILE.id]
    assert set(record.memory_ids) == {OSLO.id, CAT.id}
    assert CAT.said is not None
    assert set(record.content_hashes) == {content_hash(text) for text in (OSLO.content, CAT.content, CAT.said, PROFILE.content)}
    assert {each["id"]: each.get("said") for each in answer["results"]} == {OSLO.id: None, CAT.id: CAT.said}
    assert not any("search_text" in each for each in (*answer["results"], *answer["entities"]))


async def _new_recall(service: RunningService, before: int) -> RecallRecord:
    ends = await until_async(lambda: end_offsets(service, "recalls"), lambda found: sum(found.values()) != before)
    partition = TopicPartition(service.settings.topic("recalls"), partition_of(encode_key("acme", "ann"), PARTITIONS))
    position = {"topic": partition.topic, "partition": partition.partition, "offset": ends[partition] - 1}
    return RecallRecord.from_json((await record_at(service, position)).value)


async def test_a_recall_applies_the_filters_of_its_body(service: RunningService) -> None:
    async def ids(**body: Any) -> set[str]:
        response = await service.http.post("/v1/recall", json={"query": "Who moved where?", **body}, headers=service.auth("acme"))
        assert response.status_code == 200, response.text
        return {result["id"] for result in response.json()["results"]}

    assert await ids() == {OSLO.id, CAT.id, BERLIN.id, PROFILE.id}
    assert await ids(user="bob") == {BERLIN.id}
    assert await ids(kinds=["entity"]) == {PROFILE.id}
    assert await ids(types=["life_event"], user="ann") == {OSLO.id, CAT.id}
    assert await ids(sessions=["of-ann"]) == set()
    assert await ids(since="2024-05-06T12:00:01Z") == set()
    assert len(await ids(limit=1)) == 1


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "query"),
        ({"query": " "}, "query"),
        ({"query": "\x1c"}, "query"),
        ({"query": "x", "types": ["note"] * 65}, "types"),
        ({"query": "x", "tenant": "umbrella"}, "tenant"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "kinds": ["dream"]}, "kinds.0"),
        ({"query": "x", "since": "2024-05-06T12:00:00"}, "since"),
    ],
)
async def test_a_malformed_recall_is_refused(service: RunningService, body: dict[str, Any], detail: str) -> None:
    expect_problem(await service.http.post("/v1/recall", json=body, headers=service.auth("acme")), 422, detail)


async def test_a_memory_and_an_entity_are_read_directly(service: RunningService) -> None:
    memory = (await service.http.get(f"/v1/memories/{OSLO.id}", headers=service.auth("acme"))).json()
    assert (memory["content"], memory["evidence"], memory["event_time"]) == (OSLO.content, OSLO.message_ids, "2024-05-06T12:00:00Z")
    for path in (f"/v1/entities/user_profile/{ENTITY_KEY}", "/v1/entities/user%5Fprofile/ann%2f1/Z%C3%BCrich"):
        response = await service.http.get(path, headers=service.auth("acme"))
        assert response.json()["id"] == PROFILE.id, response.text
    expect_problem(await service.http.get(f"/v1/memories/{uuid.uuid4()}", headers=service.auth("acme")), 404, "no memory")
    expect_problem(await service.http.get("/v1/memories/no-uuid", headers=service.auth("acme")), 404, "no memory")
    expect_problem(await service.http.get("/v1/entities/user_profile/ann/1/Z%C3%BCrich", headers=service.auth("acme")), 404, "no entity")
    expect_problem(await service.http.get("/v1/entities/user_profile//x", headers=service.auth("acme")), 404, "not the key of an entity")


async def test_a_tenant_never_sees_anothers_data(service: RunningService) -> None:
    await service.tail.write([TailUpdate("acme", "secret", SessionView(open=TailWindow(0, (b'{"text":"hush"}',))), 0, 0)])
    umbrella = service.auth("umbrella")
    for memory in (OSLO, CAT, BERLIN, PROFILE):
        expect_problem(await service.http.get(f"/v1/memories/{memory.id}", headers=umbrella), 404, "no memory")
    expect_problem(await service.http.get(f"/v1/entities/user_profile/{ENTITY_KEY}", headers=umbrella), 404, "no entity")
    session = (await service.http.get("/v1/sessions/secret", headers=umbrella)).json()
    assert (session["messages"], session["open_window"]) == ([], None)
    body = {"query": "Where does Ann live?", "session": "secret", "user": "ann", "limit": 100}
    answer = (await service.http.post("/v1/recall", json=body, headers=umbrella)).json()
    assert [result["id"] for result in answer["results"]] == [LIMA.id]
    assert answer["entities"] == []
    assert answer["session"]["messages"] == []


@pytest.mark.parametrize("session", ["a/b", "a\nb\n", " ", "%2F"])
async def test_a_session_shows_its_tail_and_open_window(service: RunningService, session: str) -> None:
    closed, opened = TailWindow(0, (b'{"text":"one"}',)), TailWindow(1, (b'{"text":"two"}',))
    await service.tail.write([TailUpdate("acme", session, SessionView(closed=closed, open=opened), 0, 0)])
    answer = (await service.http.get(f"/v1/sessions/{quote(session, safe='')}", headers=service.auth("acme"))).json()
    assert answer == {
        "session": session,
        "messages": [
            {"window_sequence": 0, "message": {"text": "one"}},
            {"window_sequence": 1, "message": {"text": "two"}},
        ],
        "open_window": {"sequence": 1, "message_count": 1},
    }


async def test_health_and_the_api_are_open(service: RunningService) -> None:
    assert (await service.http.get("/healthz")).json() == {"status": "ok"}
    checks = await readiness_checks(service.settings)
    assert {name: check.ok for name, check in checks.items()} == dict.fromkeys(
        ("control", "kafka", "clock", "store", "redis", "embedder"), True
    )
    message = (await service.http.get("/openapi.json")).json()["components"]["schemas"]["MessageBody"]
    assert "tenant" not in message["properties"]
