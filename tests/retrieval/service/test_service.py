"""The query service on a real Kafka, Redis, Edge store and embedding model."""

import asyncio
import socket
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
import pytest_asyncio
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from asgi_lifespan import LifespanManager

from memory.hashing import content_hash
from memory.headers import COMMAND, KIND
from memory.ids import entity_id
from memory.keys import encode_key, entity_key, partition_of
from memory.records import Memory, MemoryChange, Message, RecallRecord, SessionCommand
from models.embedding.build import build_embedder
from retrieval.index.writer import IndexWriter
from retrieval.service.app import create_app
from retrieval.stores.build import build_store
from runtime.kafka import KafkaOffsets, client_options, create_topics
from runtime.recalled import RecalledHashes
from runtime.redis import connect_redis
from runtime.session_tail import SessionTail, SessionView, TailUpdate, TailWindow
from runtime.settings import KafkaSettings, RedisSettings, ServiceSettings, Settings, StoreSettings
from runtime.tenants import add_tenant
from runtime.tracing import PRODUCED_AT, TRACEPARENT
from tests.retrieval.edge_process import EdgeProcess

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

PARTITIONS = 3
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A running service, and what stands behind it."""

    settings: Settings
    keys: dict[str, str]
    http: httpx.AsyncClient
    tail: SessionTail
    recalled: RecalledHashes

    def of(self, tenant: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.keys[tenant]}"}


@pytest.fixture(scope="module")
def edge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EdgeProcess]:
    with EdgeProcess(tmp_path_factory.mktemp("service-edge")) as process:
        yield process


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(kafka: str, redis_url: str, edge: EdgeProcess, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    data = tmp_path_factory.mktemp("service")
    settings = Settings(
        data=data,
        kafka=KafkaSettings(bootstrap=kafka, topic_prefix=f"t{uuid.uuid4().hex}.", partitions=PARTITIONS, max_record_bytes=50_000),
        redis=RedisSettings(url=redis_url, prefix=f"{uuid.uuid4()}:"),
        store=StoreSettings(socket=edge.socket),
        service=ServiceSettings(max_batch=50, max_body_bytes=200_000, probe_timeout_s=20, produce_timeout_s=20),
    )
    keys = {tenant: add_tenant(settings.tenants_path, tenant, schema="companion") for tenant in ("acme", "umbrella")}
    await create_topics(settings)
    await _index(settings, MEMORIES)
    async with _serving(settings) as http, connect_redis(settings.redis) as redis:
        yield World(
            settings=settings,
            keys=keys,
            http=http,
            tail=SessionTail(client=redis, prefix=settings.redis.prefix),
            recalled=RecalledHashes(client=redis, prefix=settings.redis.prefix),
        )


@asynccontextmanager
async def _serving(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        LifespanManager(create_app(settings), startup_timeout=60, shutdown_timeout=60) as running,
        httpx.AsyncClient(transport=httpx.ASGITransport(app=running.app), base_url="http://varve", timeout=60) as http,
    ):
        yield http


async def _index(settings: Settings, memories: Sequence[Memory]) -> None:
    embedder, store = build_embedder(settings.embedding, cache=settings.cache_path), build_store(settings)
    changes = [MemoryChange(op="upsert", memory_id=each.id, tenant=each.tenant, memory=each) for each in memories]
    await IndexWriter(store=store, embedder=embedder).write(changes)
    await store.close()
    await embedder.close()


def _memory(tenant: str, user: str, content: str, **fields: Any) -> Memory:
    return Memory(
        **{
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{tenant}/{user}/{content}")),
            "tenant": tenant,
            "user": user,
            "kind": "event",
            "type": "life_event",
            "content": content,
            "event_time": NOON,
            "message_ids": [f"{user}-m1", f"{user}-m2"],
            **fields,
        }
    )


PLACE = entity_key("ann/1", "Zürich")
OSLO = _memory("acme", "ann", "Ann moved to Oslo in March 2024")
CAT = _memory("acme", "ann", "Ann has a cat called Miso")
BERLIN = _memory("acme", "bob", "Bob moved to Berlin in June 2022")
LIMA = _memory("umbrella", "ann", "Ann moved to Lima in January 2021")
ENTITY = _memory(
    "acme",
    "ann",
    "Profile of Ann: lives in Oslo",
    id=entity_id("acme", "user_profile", PLACE),
    kind="entity",
    type="user_profile",
    entity_key=PLACE,
)
MEMORIES = (OSLO, CAT, BERLIN, LIMA, ENTITY)


async def _record_at(world: World, place: dict[str, Any]) -> ConsumerRecord:
    partition = TopicPartition(place["topic"], place["partition"])
    async with AIOKafkaConsumer(**client_options(world.settings.kafka)) as consumer:
        consumer.assign([partition])
        consumer.seek(partition, place["offset"])
        async with asyncio.timeout(20):
            return await consumer.getone()


async def _end(world: World, topic: str) -> dict[TopicPartition, int]:
    async with KafkaOffsets(kafka=world.settings.kafka) as offsets:
        return await offsets.end_offsets([world.settings.topic(topic)])


def _problem(response: httpx.Response, status: int, word: str) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert word in body["detail"]
    return body


async def test_a_message_is_durable_where_the_answer_says(world: World) -> None:
    body = {"user": "ann", "session": "s/1", "text": "I moved to Oslo.", "event_time": "2024-05-06T12:00:00Z"}
    response = await world.http.post("/v1/messages", json=body, headers={**world.of("acme"), "traceparent": PARENT})
    assert response.status_code == 200, response.text
    answer = response.json()
    key = encode_key("acme", "s/1")
    assert answer["position"]["topic"] == world.settings.topic("messages")
    assert answer["position"]["partition"] == partition_of(key, PARTITIONS)
    record = await _record_at(world, answer["position"])
    assert record.key == key
    message = Message.from_json(record.value)
    assert (message.tenant, message.user, message.id, message.event_time) == ("acme", "ann", answer["id"], NOON)
    headers = dict(record.headers)
    assert headers[TRACEPARENT].decode().split("-")[1] == PARENT.split("-")[1]
    assert int(headers[PRODUCED_AT]) > NOON.timestamp() * 1000
    assert KIND not in headers


async def test_a_bad_item_of_a_batch_does_not_touch_the_good_ones(world: World) -> None:
    good = [{"user": "ann", "session": "batch", "id": f"m{number}", "text": str(number)} for number in range(3)]
    large = {"user": "ann", "session": "batch", "id": "large", "text": "x" * 50_000}
    batch = [good[0], {"user": "ann"}, good[1], {**good[2], "tenant": "umbrella"}, large, good[2]]
    response = await world.http.post("/v1/messages", json=batch, headers=world.of("acme"))
    items = response.json()["items"]
    assert response.status_code == 207
    assert [(item["index"], item["status"]) for item in items] == [(0, 200), (1, 422), (2, 200), (3, 422), (4, 413), (5, 200)]
    assert "session: Field required" in items[1]["problem"]["detail"]
    assert "API key" in items[3]["problem"]["detail"]
    assert items[4]["id"] == "large"
    offsets = [item["position"]["offset"] for item in items if item["status"] == 200]
    assert offsets == sorted(offsets)
    for item in items:
        if item["status"] == 200:
            assert Message.from_json((await _record_at(world, item["position"])).value).id == item["id"]
    assert (await world.http.post("/v1/messages", json=good, headers=world.of("acme"))).status_code == 200


async def test_what_is_wrong_as_a_whole_is_one_problem(world: World) -> None:
    async def post(content: bytes) -> httpx.Response:
        return await world.http.post("/v1/messages", content=content, headers=world.of("acme"))

    message = {"user": "ann", "session": "s", "text": "x"}
    _problem(await post(b"{"), 422, "not JSON")
    _problem(await post(b"[]"), 422, "empty list")
    _problem(await post(orjson.dumps([message] * 51)), 413, "50 messages")
    _problem(await post(orjson.dumps({**message, "text": "x" * 60_000})), 413, "over the limit of 50000")
    _problem(await post(b" " * 200_001), 413, "200000 bytes")
    _problem(await post(orjson.dumps({**message, "tenant": "umbrella"})), 422, "tenant comes from the API key")


@pytest.mark.parametrize("number", ["18446744073709551616", "-9223372036854775809", "1" * 300])
async def test_a_number_that_would_be_rounded_is_refused_alone(world: World, number: str) -> None:
    message = '{"user": "ann", "session": "numbers", "text": "x", "metadata": {"order": %s}}'
    batch = f"[{message % number}, {message % '18446744073709551615'}]"
    refused = await world.http.post("/v1/messages", content=message % number, headers=world.of("acme"))
    _problem(refused, 422, "metadata.order: Integer exceeds 64-bit range")
    response = await world.http.post("/v1/messages", content=batch, headers=world.of("acme"))
    items = response.json()["items"]
    assert [item["status"] for item in items] == [422, 200]
    kept = Message.from_json((await _record_at(world, items[1]["position"])).value)
    assert kept.metadata == {"order": 18446744073709551615}


async def test_a_body_nested_without_end_is_refused(world: World) -> None:
    depth = 1000
    content = b'{"user": "ann", "session": "s", "metadata": {"%s": %s}}' % (b"1" * 19, b"[" * depth + b"]" * depth)
    _problem(await world.http.post("/v1/messages", content=content, headers=world.of("acme")), 422, "nested too deeply")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/messages"),
        ("POST", "/v1/flush"),
        ("POST", "/v1/recall"),
        ("GET", "/v1/memories/x"),
        ("GET", "/v1/entities/a/b"),
        ("GET", "/v1/sessions/s"),
    ],
)
async def test_without_a_good_key_nothing_opens(world: World, method: str, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"X-API-Key": "wrong"}, {"Authorization": f"Basic {world.keys['acme']}"}):
        response = await world.http.request(method, path, headers=headers, json={"query": "x"} if method == "POST" else None)
        _problem(response, 401, "API key")
        assert response.headers["www-authenticate"] == "Bearer"


async def test_the_key_may_come_in_its_own_header(world: World) -> None:
    response = await world.http.get(f"/v1/memories/{OSLO.id}", headers={"X-API-Key": world.keys["acme"]})
    assert response.status_code == 200


async def test_a_flush_lies_behind_its_sessions_messages(world: World) -> None:
    message = {"user": "ann", "session": "flushed", "text": "x"}
    sent = (await world.http.post("/v1/messages", json=message, headers=world.of("acme"))).json()["position"]
    response = await world.http.post("/v1/flush", json={"session": "flushed"}, headers=world.of("acme"))
    (position,) = response.json()["positions"]
    assert position["partition"] == sent["partition"]
    assert position["offset"] > sent["offset"]
    record = await _record_at(world, position)
    assert record.key == encode_key("acme", "flushed")
    assert dict(record.headers)[KIND] == COMMAND
    assert SessionCommand.from_json(record.value) == SessionCommand(command="flush", tenant="acme", session="flushed")


@pytest.mark.parametrize("body", [b"", b"{}"])
async def test_a_tenants_flush_reaches_every_partition(world: World, body: bytes) -> None:
    response = await world.http.post("/v1/flush", content=body, headers={**world.of("acme"), "Content-Type": "application/json"})
    positions = response.json()["positions"]
    assert [position["partition"] for position in positions] == list(range(PARTITIONS))
    for position in positions:
        record = await _record_at(world, position)
        assert record.key == encode_key("acme")
        assert SessionCommand.from_json(record.value) == SessionCommand(command="flush", tenant="acme")


async def test_a_recall_answers_with_evidence_entities_and_tail(world: World) -> None:
    await world.tail.write([TailUpdate("acme", "talk", SessionView(open=TailWindow(4, (b'{"text":"hello"}',))))])
    before = sum((await _end(world, "recalls")).values())
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


async def _new_recall(world: World, before: int) -> RecallRecord:
    async with asyncio.timeout(20):
        while sum((ends := await _end(world, "recalls")).values()) == before:
            assert ends
    partition = TopicPartition(world.settings.topic("recalls"), partition_of(encode_key("acme", "ann"), PARTITIONS))
    place = {"topic": partition.topic, "partition": partition.partition, "offset": ends[partition] - 1}
    return RecallRecord.from_json((await _record_at(world, place)).value)


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
    _problem(await world.http.post("/v1/recall", json=body, headers=world.of("acme")), 422, word)


async def test_a_memory_and_an_entity_are_found_by_name(world: World) -> None:
    memory = (await world.http.get(f"/v1/memories/{OSLO.id}", headers=world.of("acme"))).json()
    assert (memory["content"], memory["evidence"], memory["event_time"]) == (OSLO.content, OSLO.message_ids, "2024-05-06T12:00:00Z")
    for path in (f"/v1/entities/user_profile/{PLACE}", "/v1/entities/user%5Fprofile/ann%2f1/Z%C3%BCrich"):
        response = await world.http.get(path, headers=world.of("acme"))
        assert response.json()["id"] == ENTITY.id, response.text
    _problem(await world.http.get(f"/v1/memories/{uuid.uuid4()}", headers=world.of("acme")), 404, "no memory")
    _problem(await world.http.get("/v1/memories/no-uuid", headers=world.of("acme")), 404, "no memory")
    _problem(await world.http.get("/v1/entities/user_profile/ann/1/Z%C3%BCrich", headers=world.of("acme")), 404, "no entity")
    _problem(await world.http.get("/v1/entities/user_profile//x", headers=world.of("acme")), 404, "no entity")


async def test_a_tenant_never_sees_anothers_data(world: World) -> None:
    await world.tail.write([TailUpdate("acme", "secret", SessionView(open=TailWindow(0, (b'{"text":"hush"}',))))])
    umbrella = world.of("umbrella")
    for memory in (OSLO, CAT, BERLIN, ENTITY):
        _problem(await world.http.get(f"/v1/memories/{memory.id}", headers=umbrella), 404, "no memory")
    _problem(await world.http.get(f"/v1/entities/user_profile/{PLACE}", headers=umbrella), 404, "no entity")
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


@pytest.fixture
def nowhere() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"


async def test_while_kafka_and_redis_are_away_it_still_recalls(world: World, nowhere: str) -> None:
    settings = world.settings.model_copy(
        update={
            "kafka": world.settings.kafka.model_copy(update={"bootstrap": nowhere, "request_timeout_s": 1.0}),
            "redis": world.settings.redis.model_copy(update={"url": f"redis://{nowhere}/0"}),
            "service": world.settings.service.model_copy(update={"produce_timeout_s": 1.0, "probe_timeout_s": 5.0}),
        }
    )
    async with _serving(settings) as http:
        recalled = await http.post("/v1/recall", json={"query": "Where is Ann?", "session": "talk"}, headers=world.of("acme"))
        assert recalled.status_code == 200, recalled.text
        assert recalled.json()["results"]
        assert recalled.json()["degraded"] == ["session_tail"]
        message = {"user": "ann", "session": "s", "text": "x"}
        one = await http.post("/v1/messages", json={**message, "id": "m1"}, headers=world.of("acme"))
        assert _problem(one, 503, "Kafka does not answer")["id"] == "m1"
        assert int(one.headers["retry-after"]) > 0
        batch = await http.post("/v1/messages", json=[message, message], headers=world.of("acme"))
        assert [item["status"] for item in _problem(batch, 503, "Kafka does not answer")["items"]] == [503, 503]
        assert int(batch.headers["retry-after"]) > 0
        _problem(await http.post("/v1/flush", json={}, headers=world.of("acme")), 503, "Kafka does not answer")
        _problem(await http.get("/v1/sessions/s", headers=world.of("acme")), 503, "Redis does not answer")
        ready = await http.get("/readyz")
        assert ready.status_code == 503
        assert {name: check["ok"] for name, check in ready.json()["checks"].items()} == {
            "kafka": False,
            "store": True,
            "redis": False,
            "embedder": True,
        }


async def test_while_redis_alone_is_away_it_is_ready(world: World, nowhere: str) -> None:
    settings = world.settings.model_copy(update={"redis": world.settings.redis.model_copy(update={"url": f"redis://{nowhere}/0"})})
    async with _serving(settings) as http:
        ready = await http.get("/readyz")
        assert (ready.status_code, ready.json()["checks"]["redis"]["ok"]) == (200, False)


async def test_while_the_store_is_away_a_recall_says_so(world: World, tmp_path: Path) -> None:
    settings = world.settings.model_copy(update={"store": StoreSettings(socket=tmp_path / "none.sock")})
    async with _serving(settings) as http:
        _problem(await http.post("/v1/recall", json={"query": "x"}, headers=world.of("acme")), 503, "vector store does not answer")
        _problem(await http.get(f"/v1/memories/{OSLO.id}", headers=world.of("acme")), 503, "vector store does not answer")
        ready = await http.get("/readyz")
        assert (ready.status_code, ready.json()["checks"]["store"]["ok"]) == (503, False)
