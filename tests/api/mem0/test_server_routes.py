"""The routes of mem0's self-hosted server on a real Kafka, Redis, Edge store and embedding model: forms, keys, owners and errors."""

import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio
from aiokafka import AIOKafkaConsumer, ConsumerRecord

from api.composition import open_dependencies
from api.mem0.owners import Owner
from memory.headers import CORRECTION, KIND
from memory.ids import window_id
from memory.records import Correction, Memory
from runtime.kafka import client_options
from runtime.redis.client import GuardedRedis
from runtime.settings import Mem0Settings
from stores.port import MemoryStore
from tests.api.running_service import BERLIN, CAT, LIMA, OSLO, RunningService, bearer, change_count, end_offsets, index, memory, serving
from tests.control_log import add_key

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

UNKNOWN = "00000000-0000-0000-0000-000000000000"
COACHED = memory("acme", "cleo", "Cleo plays the cello", session=Owner(user_id="cleo", agent_id="coach", run_id="r1").session)
ALONE = memory("acme", "agent:coach", "The coach speaks Finnish", session=Owner(agent_id="coach").session)
UNCOACHED = memory("acme", "cleo", "Cleo sold her boat", session=Owner(user_id="cleo", run_id="r2").session)
FIELDS = {"id", "memory", "user_id", "agent_id", "run_id", "hash", "expiration_date", "metadata", "created_at", "updated_at"}


class Noting:
    """Notes whom it is to erase; a test of the stages covers the real eraser."""

    def __init__(self) -> None:
        self.erased: list[tuple[str, str]] = []

    async def __call__(self, tenant: str, users: Sequence[str], *, by: str, store: MemoryStore, redis: GuardedRedis) -> None:
        self.erased += [(tenant, each) for each in users]


class Server:
    """A client of one service. ``keys`` has also keys that may do everything, and keys that may only read."""

    def __init__(self, service: RunningService, http: httpx.AsyncClient, keys: dict[str, str], eraser: Noting) -> None:
        self.service, self.http, self.keys, self.eraser = service, http, keys, eraser

    async def call(self, method: str, path: str, key: str = "acme", *, status: int = 200, **options: Any) -> Any:
        """The JSON of a response."""
        response = await self.http.request(method, f"/mem0/server{path}", headers={"X-API-Key": self.keys[key]}, **options)
        assert response.status_code == status, response.text
        return response.json()

    async def refusal(self, method: str, path: str, status: int, **options: Any) -> str:
        """The text of an error."""
        body = await self.call(method, path, status=status, **options)
        assert body.keys() == {"detail"}
        return str(body["detail"])

    async def records(self, topic: str) -> list[ConsumerRecord]:
        """All records of a topic."""
        ends = await end_offsets(self.service, topic)
        found: list[ConsumerRecord] = []
        async with AIOKafkaConsumer(**client_options(self.service.settings.kafka)) as consumer:
            consumer.assign([*ends])
            await consumer.seek_to_beginning()
            while len(found) < sum(ends.values()):
                for records in (await consumer.getmany(timeout_ms=200)).values():
                    found += records
        return found

    async def corrections(self) -> list[tuple[str, str, str | None]]:
        """Action, memory and new text of each correction."""
        records = await self.records("extractions")
        found = [Correction.from_json(each.value) for each in records if (KIND, CORRECTION) in each.headers]
        return [(each.action, each.memory_id, each.fields.content) for each in found]


def event(tenant: str, user: str, content: str, session: str) -> Memory:
    """An event that can be corrected: it names its window."""
    return memory(tenant, user, content, session=session, window_id=window_id(tenant, session, 0), version=3)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(service: RunningService) -> AsyncIterator[Server]:
    await index(service.settings, [COACHED, ALONE, UNCOACHED])
    keys = {
        **service.keys,
        "reader": await add_key(service.settings, "acme", scopes=("recall",)),
        "acme": await add_key(service.settings, "acme", scopes=("ingest", "recall", "correct", "erase")),
        "umbrella": await add_key(service.settings, "umbrella", scopes=("ingest", "recall", "correct", "erase")),
    }
    eraser = Noting()
    settings = service.settings.model_copy(update={"mem0": Mem0Settings(enabled=True)})
    async with serving(settings, open_dependencies=lambda each: open_dependencies(each, eraser=eraser)) as http:
        yield Server(service, http, keys, eraser)


def ids(body: Any) -> set[str]:
    return {each["id"] for each in body["results"]}


async def test_the_server_paths_need_the_setting(service: RunningService) -> None:
    assert (await service.http.get("/mem0/server/memories", headers=service.auth("acme"))).status_code == 404


async def test_either_header_carries_the_key(server: Server) -> None:
    path, key = "/mem0/server/memories?user_id=ann", server.keys["acme"]
    for headers in ({"X-API-Key": key}, bearer(key)):
        assert (await server.http.get(path, headers=headers)).status_code == 200
    for headers in ({}, {"X-API-Key": "m0sk_other"}, {"Authorization": f"Token {key}"}):
        refused = await server.http.get(path, headers=headers)
        assert (refused.status_code, refused.headers["www-authenticate"], refused.json().keys()) == (401, "Bearer", {"detail"})


async def test_a_list_has_the_memories_of_an_owner(server: Server) -> None:
    listed = await server.call("GET", "/memories", params={"user_id": "ann"})
    assert ids(listed) == {OSLO.id, CAT.id}
    first = listed["results"][0]
    assert first.keys() == FIELDS
    assert first["hash"] == hashlib.md5(first["memory"].encode(), usedforsecurity=False).hexdigest()
    assert first["metadata"]["evidence"] == ["ann-m1", "ann-m2"]
    assert ids(await server.call("GET", "/memories", params={"agent_id": "coach"})) == {COACHED.id, ALONE.id}
    assert ids(await server.call("GET", "/memories", params={"agent_id": "coach", "user_id": "cleo"})) == {COACHED.id}
    assert ids(await server.call("GET", "/memories", params={"run_id": "r2"})) == {UNCOACHED.id}
    assert len(ids(await server.call("GET", "/memories", params={"user_id": "ann", "top_k": 1}))) == 1
    assert ids(await server.call("GET", "/memories", params={"user_id": "ann", "top_k": 0})) == set()
    assert {OSLO.id, BERLIN.id, ALONE.id} <= ids(await server.call("GET", "/memories"))


async def test_tenants_and_bound_keys_see_their_own(server: Server) -> None:
    assert ids(await server.call("GET", "/memories", "umbrella")) == {LIMA.id}
    assert ids(await server.call("POST", "/search", "umbrella", json={"query": "Where?", "user_id": "ann"})) == {LIMA.id}
    assert ids(await server.call("GET", "/memories", "acme/bob")) == {BERLIN.id}
    for method, path in (("GET", f"/memories/{OSLO.id}"), ("GET", f"/memories/{OSLO.id}/history"), ("DELETE", f"/memories/{OSLO.id}")):
        assert (await server.call(method, path, "umbrella", status=404)).keys() == {"detail"}
    assert await server.call("GET", "/entities", "umbrella") == [
        {
            "id": "ann",
            "type": "user",
            "total_memories": 1,
            "created_at": "2024-05-06T12:00:00+00:00",
            "updated_at": "2024-05-06T12:00:00+00:00",
        }
    ]
    assert "bound to another user" in str(await server.call("GET", "/memories", "acme/bob", status=403, params={"user_id": "ann"}))


@pytest.mark.parametrize("owner", [{"user_id": "ann"}, {"filters": {"user_id": "ann"}}])
async def test_a_search_ranks_memories_of_an_owner(server: Server, owner: dict[str, Any]) -> None:
    found = await server.call("POST", "/search", json={"query": "Which cat does Ann have?", **owner})
    assert [each["id"] for each in found["results"]] == [CAT.id, OSLO.id]
    assert found["results"][0].keys() == FIELDS | {"score"}
    assert "confidence" in found["results"][0]["metadata"]
    one = await server.call("POST", "/search", json={"query": "Which cat does Ann have?", "top_k": 1, "threshold": 0, **owner})
    assert ids(one) == {CAT.id}
    best, other = (each["score"] for each in found["results"])
    assert 0 <= other < best <= 1
    between = {"query": "Which cat does Ann have?", "threshold": (best + other) / 2, **owner}
    assert ids(await server.call("POST", "/search", json=between)) == {CAT.id}


async def test_filters_of_a_search_narrow_it(server: Server) -> None:
    both = {"query": "cello", "user_id": "cleo", "filters": {"agent_id": "coach"}}
    assert ids(await server.call("POST", "/search", json=both)) == {COACHED.id}
    none = {"query": "cello", "user_id": "cleo", "filters": {"user_id": "ann"}}
    assert ids(await server.call("POST", "/search", json=none)) == set()


@pytest.mark.parametrize(
    ("fields", "status", "part"),
    [
        ({}, 400, "at least one of"),
        ({"filters": {}}, 400, "at least one of"),
        ({"filters": {"colour": "red"}}, 400, "at least one of"),
        ({"user_id": "ann", "filters": {"colour": "red"}}, 400, "filters.colour"),
        ({"user_id": "ann", "filters": {"metadata": {"a": 1}}}, 400, "filters.metadata"),
        ({"user_id": "ann", "filters": "{'run_id': 'r1'}"}, 422, "filters"),
        ({"user_id": "ann", "filters": []}, 422, "filters"),
        ({"user_id": {"in": ["ann"]}}, 422, "user_id"),
        ({"user_id": ""}, 422, "user_id"),
        ({"userId": "ann"}, 422, "userId"),
        ({"user_id": "ann", "runId": "r1"}, 422, "runId"),
        ({"user_id": "ann", "top_k": "5"}, 422, "top_k"),
        ({"user_id": "ann", "top_k": 10**30}, 400, "top_k"),
        ({"user_id": "ann", "threshold": True}, 422, "threshold"),
        ({"user_id": "ann", "query": " "}, 400, "query"),
        ({"user_id": "ann", "explain": True}, 400, "explain"),
        ({"user_id": "ann", "show_expired": True}, 400, "show_expired"),
    ],
)
async def test_an_unclear_search_is_refused(server: Server, fields: dict[str, Any], status: int, part: str) -> None:
    assert part in await server.refusal("POST", "/search", status, json={"query": "Where?", **fields})


async def test_a_parameter_of_the_query_never_widens(server: Server) -> None:
    before = await change_count(server.service)
    for query in (
        "user_id=ann&filters={'run_id': 'r1'}",
        "filters={'user_id': 'ann'}",
        "user_id=ann&colour=red",
        "user_id=ann&user_id=bob",
        "user_id=",
        "user_id=ann&app_id=a",
    ):
        for method in ("GET", "DELETE"):
            assert isinstance((await server.call(method, f"/memories?{query}", status=422))["detail"][0]["msg"], str)
    assert "user_id" in await server.refusal("POST", "/search?user_id=ann", 422, json={"query": "Where?"})
    assert await change_count(server.service) == before


async def test_deleting_all_needs_an_owner(server: Server) -> None:
    before = await change_count(server.service)
    assert "At least one identifier" in await server.refusal("DELETE", "/memories", 400)
    assert "names nobody" in await server.refusal("DELETE", "/memories?user_id=*", 400)
    assert "names nobody" in await server.refusal("DELETE", "/entities/agent/*", 400)
    assert "no body" in await server.refusal("DELETE", "/memories?user_id=ann", 400, json={"run_id": "r1"})
    assert "lacks the scope correct" in str(await server.call("DELETE", "/memories?user_id=ann", "reader", status=403))
    assert await change_count(server.service) == before


async def test_one_memory_is_read(server: Server) -> None:
    found = await server.call("GET", f"/memories/{COACHED.id}")
    assert found.keys() == FIELDS
    assert (found["memory"], found["user_id"], found["agent_id"], found["run_id"]) == (COACHED.content, "cleo", "coach", "r1")
    [step] = await server.call("GET", f"/memories/{COACHED.id}/history")
    assert (step["event"], step["old_memory"], step["new_memory"], step["is_deleted"]) == ("ADD", None, COACHED.content, False)
    for path in ("", "/history"):
        assert (await server.refusal("GET", f"/memories/{UNKNOWN}{path}", 404)).startswith("there is no memory")
        assert "expected a UUID" in await server.refusal("GET", f"/memories/m-1{path}", 400)


async def test_changes_of_one_memory_are_corrections(server: Server) -> None:
    kept = event("acme", "dora", "Dora has a dog", Owner(user_id="dora").session)
    await index(server.service.settings, [kept])
    path = f"/memories/{kept.id}"
    assert await server.call("PUT", path, json={"text": "Dora has two dogs"}) == {"message": "Memory updated successfully!"}
    assert await server.call("DELETE", path) == {"message": "Memory deleted successfully"}
    changes = [(action, content) for action, memory_id, content in await server.corrections() if memory_id == kept.id]
    assert changes == [("correct", "Dora has two dogs"), ("delete", None)]
    for body in ({"text": ""}, {}, {"metadata": {"a": 1}}, {"text": "x", "expiration_date": "2030-01-01"}):
        await server.refusal("PUT", path, 400, json=body)
    for content in (b'{"data": "x"}', b'{"text": 7}', b"[]"):
        await server.refusal("PUT", path, 422, content=content)


async def test_delete_all_deletes_only_the_named_memories(server: Server) -> None:
    mine = [event("acme", "eve", f"Eve said {each}", Owner(user_id="eve", run_id=each).session) for each in ("r8", "r9")]
    others = event("umbrella", "eve", "Eve said r8", Owner(user_id="eve", run_id="r8").session)
    await index(server.service.settings, [*mine, others])
    answer = await server.call("DELETE", "/memories", params={"user_id": "eve", "run_id": "r8"})
    assert answer == {"message": "All relevant memories deleted"}
    assert await server.call("DELETE", "/entities/run/r9") == {"message": "Entity deleted"}
    deleted = {memory_id for action, memory_id, _ in await server.corrections() if action == "delete"}
    assert deleted & {each.id for each in (*mine, others)} == {each.id for each in mine}


async def test_added_messages_are_in_their_session(server: Server) -> None:
    said = [{"role": "user", "content": "I moved to Turin."}, {"role": "assistant", "content": "How nice!"}]
    added = await server.call("POST", "/memories", json={"messages": said, "user_id": "fay", "run_id": "r/1", "metadata": {"a": 1}})
    assert (added["results"], added["status"]) == ([], "PENDING")
    records = [json.loads(each.value) for each in await server.records("messages")]
    stored = [each for each in records if each.get("session") == Owner(user_id="fay", run_id="r/1").session and "text" in each]
    assert [(each["text"], each["user"], each["tenant"]) for each in stored] == [
        ("I moved to Turin.", "fay", "acme"),
        ("How nice!", "fay", "acme"),
    ]
    assert added["event_id"] == stored[0]["id"]


@pytest.mark.parametrize(
    ("fields", "status", "part"),
    [
        ({}, 400, "At least one identifier"),
        ({"app_id": "a"}, 422, "app_id"),
        ({"user_id": "ann", "messages": []}, 422, "messages"),
        ({"user_id": "ann", "messages": "hello"}, 422, "messages"),
        ({"user_id": "ann", "messages": [{"role": "user"}]}, 422, "content"),
        ({"user_id": 7}, 422, "user_id"),
        ({"user_id": "ann", "expiration_date": "2030-01-01"}, 400, "expiration_date"),
        ({"user_id": "ann", "prompt": "Only colours"}, 400, "prompt"),
        ({"user_id": "ann", "memory_type": "procedural_memory"}, 400, "memory_type"),
    ],
)
async def test_an_unclear_addition_stores_nothing(server: Server, fields: dict[str, Any], status: int, part: str) -> None:
    before = await change_count(server.service)
    assert part in await server.refusal("POST", "/memories", status, json={"messages": [{"role": "user", "content": "Hi"}], **fields})
    assert await change_count(server.service) == before


async def test_a_body_that_is_not_json_is_refused(server: Server) -> None:
    for content in (b"{", b"\xff", b""):
        await server.refusal("POST", "/search", 400, content=content)
    assert "scope ingest" in str(
        await server.call("POST", "/memories", "reader", status=403, json={"user_id": "a", "messages": [{"role": "user", "content": "x"}]})
    )


async def test_entities_are_users_agents_and_runs(server: Server) -> None:
    found = {(each["type"], each["id"]): each["total_memories"] for each in await server.call("GET", "/entities")}
    assert found["user", "cleo"] == found["agent", "coach"] == 2
    assert found["run", "r1"] == found["run", "r2"] == 1
    assert ("user", "agent:coach") not in found


@pytest.mark.parametrize("name", ["gus", "gus/2", "Gus Ünal?"])
async def test_deleting_a_user_entity_is_an_erasure(server: Server, name: str) -> None:
    path = f"/entities/user/{quote(name, safe='')}"
    assert "lacks the scope erase" in str(await server.call("DELETE", path, "reader", status=403))
    answer = await server.call("DELETE", path)
    assert (answer["message"], "subject" in answer["erasure"]) == ("Entity deleted", True)
    platform = await server.http.delete(f"/mem0/v2{path}/", headers=bearer(server.keys["acme"]))
    assert platform.json()["erasure"]["subject"] == answer["erasure"]["subject"]


async def test_an_entity_has_a_known_type_and_a_name(server: Server) -> None:
    assert "no type of entity" in await server.refusal("DELETE", "/entities/app/shop", 400)
    for entity_type in ("user", "run"):
        assert "name of the entity" in await server.refusal("DELETE", f"/entities/{entity_type}/", 400)


async def test_a_reset_erases_the_users_of_the_tenant(server: Server) -> None:
    assert "lacks the scope erase" in str(await server.call("POST", "/reset", "reader", status=403))
    assert "tenant" in await server.refusal("POST", "/reset?tenant=acme", 422)
    answer = await server.call("POST", "/reset", "umbrella")
    assert {each.keys() >= {"subject"} for each in answer["erasures"]} == {True}
    assert {tenant for tenant, user in server.eraser.erased if user == "ann"} == {"umbrella"}


@pytest.mark.parametrize(
    ("method", "path", "instead"),
    [
        ("GET", "/configure", "settings"),
        ("POST", "/configure", "settings"),
        ("GET", "/configure/providers", "settings"),
        ("POST", "/generate-instructions", "schema"),
        ("GET", "/api-keys", "/v1/keys"),
        ("POST", "/api-keys", "varve keys"),
        ("DELETE", f"/api-keys/{UNKNOWN}", "varve keys"),
        ("GET", "/requests", "metrics"),
        ("POST", "/auth/login", "X-API-Key"),
        ("GET", "/", "/openapi.json"),
        ("GET", "/memories/", "/openapi.json"),
    ],
)
async def test_unsupported_calls_name_the_alternative_in_varve(server: Server, method: str, path: str, instead: str) -> None:
    detail = await server.refusal(method, path, 501)
    assert instead in detail
    assert f"{method} {path} of mem0's server" in detail
    status = 501 if path.startswith("/auth") else 401
    assert (await server.http.request(method, f"/mem0/server{path}")).status_code == status
