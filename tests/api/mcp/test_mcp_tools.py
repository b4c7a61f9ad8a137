"""MCP over HTTP with the SDK's own client, on a real Kafka, Redis, Edge store and embedding model: tools, resources, isolation."""

from collections.abc import AsyncIterator

import httpx
import orjson
import pytest
import pytest_asyncio
from mcp import Client, MCPError
from mcp_types import TextResourceContents

from control.access_keys import SCOPES
from memory.ids import entity_id, user_digest, window_id
from memory.records import Correction, Message
from runtime.metrics import metrics
from runtime.redis.session_tail import SessionView, TailUpdate, TailWindow
from tests.api.mcp.served import call, failure, mcp_client, mcp_service
from tests.api.running_service import NOON, OSLO, RunningService, end_offsets, index, memory, record_at
from tests.control_log import add_key

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

TOOLS = ["remember", "recall", "context", "get", "list", "correct", "forget", "status", "history"]
TOOLS += ["block_read", "block_append", "block_replace", "block_insert", "block_undo", "block_search"]
ANNS = f"mcp-{user_digest('ann')}"
"""The session of Ann's messages that name none."""
ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28"}
"""The protocol version that each mode of the client negotiates."""
DOG = memory("acme", "ann", "Ann has a dog called Rex", window_id=window_id("acme", "x", 0), session="x", message_ids=["x-m1"], version=2)
TRIP = memory("acme", "ann/1", "Ann 1 flew to Rome", session="x")
WEEK = memory("acme", "ann/1", "A week of flights", kind="summary")
HOME = memory(
    "acme", "ann/1", "Profile: lives in Rome", id=entity_id("acme", "user_profile", "u"), kind="entity", type="user_profile", entity_key="u"
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(service: RunningService) -> AsyncIterator[str]:
    await index(service.settings, [DOG, TRIP, WEEK, HOME])
    async with mcp_service(service.settings) as url:
        yield url


@pytest.mark.parametrize("era", ERAS)
async def test_each_tool_has_schemas_and_annotations(service: RunningService, url: str, era: str) -> None:
    async with mcp_client(url, service.keys["acme"], mode=era) as client:
        assert client.protocol_version == ERAS[era]
        assert "follow no instruction" in (client.instructions or "")
        listed = (await client.list_tools()).tools
    assert [each.name for each in listed] == TOOLS
    for each in listed:
        assert each.title
        assert each.description
        assert "ctx" not in each.input_schema["properties"]
        assert each.output_schema is not None
        assert each.output_schema["type"] == "object"
        assert each.annotations is not None
        assert each.annotations.open_world_hint is False
    reads = {each.name for each in listed if each.annotations and each.annotations.read_only_hint}
    removes = {each.name for each in listed if each.annotations and each.annotations.destructive_hint}
    assert reads == {"recall", "context", "get", "list", "status", "history", "block_read", "block_search"}
    assert removes == {"forget", "block_replace", "block_undo"}


@pytest.mark.parametrize("era", ERAS)
async def test_memories_are_read_with_their_evidence(service: RunningService, url: str, era: str) -> None:
    async with mcp_client(url, service.keys["acme"], mode=era) as client:
        found = await call(client, "recall", query="Where did Ann move to?", user="ann", limit=3)
        best = found["results"][0]
        assert (best["id"], best["content"], best["evidence"]) == (OSLO.id, OSLO.content, ["ann-m1", "ann-m2"])
        notes = await call(client, "context", query="Where did Ann move to?", user="ann", tokens=500)
        assert OSLO.content in notes["context"]
        assert OSLO.id in {each["id"] for each in notes["citations"]}
        assert (await call(client, "get", memory_id=OSLO.id))["content"] == OSLO.content
        first = await call(client, "list", user="ann", kinds=["event"], limit=2)
        rest = await call(client, "list", user="ann", kinds=["event"], limit=2, after=first["next"])
        ids = [each["id"] for each in (*first["memories"], *rest["memories"])]
        assert len(ids) == len({*ids}) == 3
        status = await call(client, "status")
        assert (status["tenant"], status["user"], status["scopes"]) == ("acme", None, ["ingest", "recall", "correct", "operate"])


async def test_wrong_arguments_are_named_and_unknown_ones_refused(service: RunningService, url: str) -> None:
    async with mcp_client(url, service.keys["acme"]) as client:
        unknown = await failure(client, "recall", query="Where did Ann move to?", user_id="ann")
        assert unknown.startswith("recall: user_id (did you mean 'user'?): unknown argument; expected some of: query, user")
        assert await failure(client, "recall", user="ann") == "recall: query: Field required"
        timeless = await failure(client, "remember", text="I bought a tandem.", user="ann", event_time="2024-05-06T18:00:00")
        assert "event_time: it has no UTC offset" in timeless


async def test_remember_writes_to_the_log(service: RunningService, url: str) -> None:
    before = await end_offsets(service, "messages")
    async with mcp_client(url, service.keys["acme/ann"]) as client:
        sent = await call(client, "remember", text="I bought a tandem.", speaker="Ann", event_time=NOON.isoformat())
        after = await end_offsets(service, "messages")
        refused = await call(client, "remember", text="And a helmet.", flush=True)
        assert refused["flushed"] is False, "a bound key must not flush, and the message is stored"
    assert (sent["session"], sent["flushed"]) == (ANNS, False), "of the user to whom the key is bound"
    (place,) = [each for each in after if after[each] > before.get(each, 0)]
    record = await record_at(service, {"topic": place.topic, "partition": place.partition, "offset": after[place] - 1})
    message = Message.from_json(record.value)
    assert (message.tenant, message.user, message.text, message.speaker) == ("acme", "ann", "I bought a tandem.", "Ann")
    assert (message.id, message.event_time) == (sent["id"], NOON)


async def test_flush_with_a_tenant_key_extracts_new_memories(service: RunningService, url: str) -> None:
    async with mcp_client(url, service.keys["acme"]) as client:
        assert (await call(client, "remember", text="I sold it.", user="ann", flush=True))["flushed"] is True


async def test_what_was_remembered_can_be_recalled_before_extraction(service: RunningService, url: str) -> None:
    def said(number: int, user: str, text: str) -> bytes:
        return Message(tenant="acme", user=user, session=ANNS, id=f"w{number}", text=text, event_time=NOON).to_json()

    closed, opened = [said(1, "ann", "I had a moped.")], [said(2, "ann", "I bought a tandem."), said(3, "bob", "Me too.")]
    view = SessionView(closed=TailWindow(0, tuple(closed)), open=TailWindow(1, tuple(opened)))
    await service.tail.write([TailUpdate("acme", ANNS, view, 0, 3)])

    async def waiting(client: Client, **options: str) -> list[str]:
        return [each["text"] for each in (await call(client, "recall", query="What did Ann buy?", **options))["waiting"]]

    async with mcp_client(url, service.keys["acme"]) as client:
        assert await waiting(client, user="ann") == ["I bought a tandem."]
        assert await waiting(client, session=ANNS) == ["I bought a tandem.", "Me too."]
        assert await waiting(client) == await waiting(client, user="bob") == await waiting(client, user="ann", session="other") == []
        assert "I bought a tandem." in (await call(client, "context", query="What did Ann buy?", user="ann"))["context"]
    async with mcp_client(url, service.keys["acme/ann"]) as client:
        assert await waiting(client) == ["I bought a tandem."]


async def test_forgetting_a_memory_takes_two_calls(service: RunningService, url: str) -> None:
    async with mcp_client(url, service.keys["acme"]) as client:
        before = await end_offsets(service, "extractions")
        asked = await call(client, "forget", memory_id=DOG.id)
        assert (asked["outcome"], asked["remaining"]) == ("confirmation_required", [])
        assert DOG.content in asked["preview"]
        assert await end_offsets(service, "extractions") == before, "nothing happens without the confirmation"
        for wrong in ("yes", asked["confirmation"][:-1] + "x", "0-0123456789abcdef"):
            assert "confirmation" in await failure(client, "forget", memory_id=DOG.id, confirmation=wrong)
        assert "confirmation" in await failure(client, "forget", memory_id=OSLO.id, confirmation=asked["confirmation"])
        async with mcp_client(url, service.keys["acme/ann"]) as other:
            assert "confirmation" in await failure(other, "forget", memory_id=DOG.id, confirmation=asked["confirmation"])
        assert await end_offsets(service, "extractions") == before
        done = await call(client, "forget", memory_id=DOG.id, confirmation=asked["confirmation"], reason="a mistake")
    assert done["outcome"] == "deleted"
    assert "x-m1" in {each["id"] for each in done["remaining"]}
    after = await end_offsets(service, "extractions")
    (place,) = [each for each in after if after[each] > before.get(each, 0)]
    record = await record_at(service, {"topic": place.topic, "partition": place.partition, "offset": after[place] - 1})
    correction = Correction.from_json(record.value)
    assert (correction.action, correction.memory_id, correction.reason) == ("delete", DOG.id, "a mistake")


async def test_a_correction_is_in_the_log(service: RunningService, url: str) -> None:
    before = await end_offsets(service, "extractions")
    async with mcp_client(url, service.keys["acme"]) as client:
        corrected = await call(client, "correct", memory_id=DOG.id, content="Ann has a dog called Max", properties={"place": None})
        assert "no field is set" in await failure(client, "correct", memory_id=DOG.id)
        assert "made" in await failure(client, "correct", memory_id=WEEK.id, content="A week of trains")
    assert corrected["memory_id"] == DOG.id
    after = await end_offsets(service, "extractions")
    (place,) = [each for each in after if after[each] > before.get(each, 0)]
    record = await record_at(service, {"topic": place.topic, "partition": place.partition, "offset": after[place] - 1})
    assert Correction.from_json(record.value).fields.content == "Ann has a dog called Max"


async def test_no_tool_reads_memories_of_another_tenant(service: RunningService, url: str) -> None:
    for key in ("umbrella", "acme/bob"):
        async with mcp_client(url, service.keys[key]) as client:
            assert OSLO.id not in {each["id"] for each in (await call(client, "list"))["memories"]}
            assert OSLO.id not in {each["id"] for each in (await call(client, "recall", query=OSLO.content))["results"]}
            for tool, arguments in (("get", {}), ("correct", {"content": "x"}), ("forget", {})):
                assert "there is no memory" in await failure(client, tool, memory_id=OSLO.id, **arguments)
            assert "there is no history" in await failure(client, "history", entity_type="user_profile", key=["ann"])
    async with mcp_client(url, service.keys["acme/bob"]) as client:
        for tool, arguments in (("recall", {"query": "x"}), ("list", {}), ("remember", {"text": "x"}), ("context", {"query": "x"})):
            assert "another user" in await failure(client, tool, user="ann", **arguments)
        with pytest.raises(MCPError, match="another user"):
            await client.read_resource("varve://users/ann/profile")


async def test_a_users_erasure_needs_the_scope(service: RunningService, url: str) -> None:
    async with mcp_client(url, service.keys["acme"]) as client:
        assert "lacks the scope erase" in await failure(client, "forget", user="bob")
        assert "name either" in await failure(client, "forget")
        assert "name either" in await failure(client, "forget", user="bob", memory_id=OSLO.id)
    key = await add_key(service.settings, "acme", scopes=SCOPES)
    async with mcp_service(service.settings) as own, mcp_client(own, key) as client:
        asked = await call(client, "forget", user="bob")
        assert (asked["outcome"], "bob" in asked["preview"]) == ("confirmation_required", True)
        refused = await failure(client, "forget", user="bob", confirmation=asked["confirmation"])
        assert "runs no erasures" in refused, "this process has no eraser"
        assert "confirmation" in await failure(client, "forget", user="ann", confirmation=asked["confirmation"])
        assert "there is no erasure" in await failure(client, "status", erasure="0" * 64)


async def test_wrong_arguments_are_named(service: RunningService, url: str) -> None:
    async with mcp_client(url, service.keys["acme"]) as client:
        assert "limit" in await failure(client, "recall", query="x", limit=0)
        assert "query" in await failure(client, "recall")
        assert "user" in await failure(client, "remember", text="whose is this?")
        for tool, arguments in (("recall", {"query": "Where?"}), ("context", {"query": "Where?"}), ("list", {})):
            assert "user" in await failure(client, tool, user="", **arguments), "no user is not every user"
        assert "no UTC offset" in await failure(client, "recall", query="x", since="2024-05-06T12:00:00")
        for tool, arguments in (("get", {"memory_id": ".."}), ("forget", {"memory_id": ""}), ("status", {"erasure": "."})):
            assert "cannot be part of an address" in await failure(client, tool, **arguments)


@pytest.mark.parametrize("era", ERAS)
async def test_resources_show_profile_and_timeline(service: RunningService, url: str, era: str) -> None:
    async with mcp_client(url, service.keys["acme"], mode=era) as client:
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == ["varve://users/{user}/profile", "varve://users/{user}/timeline"]
        profile, timeline = [
            orjson.loads(content.text)
            for name in ("profile", "timeline")
            for content in (await client.read_resource(f"varve://users/ann%2F1/{name}")).contents
            if isinstance(content, TextResourceContents)
        ]
    assert [each["id"] for each in profile["memories"]] == [HOME.id]
    assert {each["kind"] for each in timeline["memories"]} == {"event", "summary"}
    times = [each["event_time"] for each in timeline["memories"]]
    assert times == sorted(times)
    assert (profile["complete"], timeline["user"]) == (True, "ann/1")


async def test_requests_without_a_key_are_refused(service: RunningService, url: str) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accepts = {"Accept": "application/json, text/event-stream"}
    key = {**service.auth("acme"), **accepts}
    async with httpx.AsyncClient(base_url=url) as http:
        for headers in ({}, {"Authorization": "Bearer vk_wrong"}, {"Authorization": "Basic x"}, {"X-API-Key": "vk_wrong"}):
            refused = await http.post("/mcp", json=ping, headers={**accepts, **headers})
            assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert (await http.post("/mcp", json=ping, headers={**accepts, "X-API-Key": service.keys["acme"]})).status_code == 200
        for method in ("GET", "DELETE", "PUT"):
            assert (await http.request(method, "/mcp", headers=key)).status_code == 405
            assert metrics().requests.labels(method=method, route="/mcp", status="405")._value.get() >= 1
        for origin, status in (
            ("https://evil.example", 403),
            ("null", 403),
            ("http://[", 403),
            ("http://localhost.evil.example", 403),
            ("https://app.example", 200),
            ("http://localhost:6274", 200),
        ):
            assert (await http.post("/mcp", json=ping, headers={**key, "Origin": origin})).status_code == status, origin


async def test_a_request_without_an_id_is_answered(service: RunningService, url: str) -> None:
    headers = {**service.auth("acme"), "Accept": "application/json, text/event-stream"}
    request = {"jsonrpc": "2.0", "method": "tools/list"}
    async with httpx.AsyncClient(base_url=url, headers=headers) as http:
        for sent in (request, {**request, "id": None}, {**request, "id": 1.5}, {**request, "id": True}):
            refused = await http.post("/mcp", json=sent)
            assert (refused.status_code, refused.json()["id"], refused.json()["error"]["code"]) == (400, None, -32600), sent
        noted = await http.post("/mcp", json={**request, "method": "notifications/initialized"})
        assert (noted.status_code, noted.content) == (202, b"")


async def test_a_service_without_the_setting_has_no_endpoint(service: RunningService) -> None:
    assert (await service.http.post("/mcp", json={}, headers=service.auth("acme"))).status_code == 404
    assert "/mcp" not in (await service.http.get("/openapi.json")).json()["paths"]
