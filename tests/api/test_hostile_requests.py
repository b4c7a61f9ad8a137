"""Requests of attackers and of broken clients to the facades: refused in the form of each API, and nothing is changed."""

import json
import random
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Final

import httpx
import orjson
import pytest
import pytest_asyncio

from api.http.request_body import MAX_BYTES
from runtime.settings import McpSettings, Mem0Settings, ServiceSettings, VikingSettings
from tests.api.local_issuer import LocalIssuer, local_issuer
from tests.api.running_service import BERLIN, CAT, LIMA, OSLO, RunningService, change_count, serving
from tests.control_log import add_key

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

ALL_SCOPES: Final = ("ingest", "recall", "correct", "erase")
ROUTES: Final = (
    ("POST", "/mem0/v3/memories/add/"),
    ("POST", "/mem0/v3/memories/search/"),
    ("POST", "/mem0/v3/memories/"),
    ("DELETE", "/mem0/v1/memories/"),
    ("PUT", f"/mem0/v1/memories/{OSLO.id}/"),
    ("PUT", "/mem0/v1/batch/"),
    ("DELETE", "/mem0/v1/batch/"),
    ("POST", "/mem0/server/memories"),
    ("POST", "/mem0/server/search"),
    ("PUT", f"/mem0/server/memories/{OSLO.id}"),
    ("POST", "/api/memory/session/add"),
    ("POST", "/api/memory/session/info"),
    ("POST", "/api/memory/search"),
    ("POST", "/api/memory/event/search"),
    ("POST", "/api/memory/event/add"),
    ("POST", "/api/memory/event/update"),
    ("POST", "/api/memory/event/delete"),
    ("POST", "/api/memory/event/batch_delete"),
    ("POST", "/api/memory/profile/search"),
    ("POST", "/api/memory/profile/add"),
    ("POST", "/api/memory/profile/update"),
    ("POST", "/api/memory/profile/delete"),
    ("POST", "/mcp"),
)
NAMES: Final = (
    *("user_id", "agent_id", "run_id", "filters", "messages", "query", "top_k", "threshold", "metadata", "infer", "timestamp", "text"),
    *("AND", "OR", "NOT", "in", "eq", "created_at", "memories", "memory_id", "fields", "categories", "start_date", "role", "content"),
    *("collection_name", "session_id", "filter", "limit", "memory_info", "event_id", "event_type", "profile_id", "profile_type"),
    *("time_decay_config", "weight", "custom_weight", "start_time", "primary_key", "memory_type", "assistant_id", "default_user_id"),
    *("jsonrpc", "id", "method", "params", "name", "arguments", "_meta"),
)
VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1.5, 2**63, 10**18, "", " ", "*", "ann", "..", "a/b", "\x00", "\u202e", "é", "x" * 300, "tools/call"),
    *("companion", OSLO.id, LIMA.id, "message/ann/s/m", "{'user_id': 'ann'}", "2024-13-45", "1e400", "' OR 1=1 --", "initialize"),
)


@dataclass(frozen=True, slots=True)
class Attacked:
    """A service with all facades, and keys of two tenants."""

    service: RunningService
    http: httpx.AsyncClient
    keys: dict[str, str]
    issuer: LocalIssuer

    async def send(self, method: str, path: str, key: str = "acme", **options: Any) -> httpx.Response:
        headers = {"X-API-Key": self.keys[key], "Accept": "application/json, text/event-stream"} | options.pop("headers", {})
        return await self.http.request(method, path, headers=headers, **options)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def attacked(service: RunningService) -> AsyncIterator[Attacked]:
    keys = {tenant: await add_key(service.settings, tenant, scopes=ALL_SCOPES) for tenant in ("acme", "umbrella")}
    keys["reader"] = await add_key(service.settings, "acme", scopes=("recall",))
    keys["bob"] = await add_key(service.settings, "acme", user="bob", scopes=ALL_SCOPES)
    facades = {"mem0": Mem0Settings(enabled=True), "viking": VikingSettings(enabled=True), "mcp": McpSettings(enabled=True)}
    async with local_issuer() as issuer:
        settings = service.settings.model_copy(update={**facades, "oidc": issuer.settings})
        async with serving(settings) as http:
            yield Attacked(service, http, keys, issuer)


def expect_refusal(response: httpx.Response, path: str) -> None:
    """The response is an error of the API's own form, and no defect of the service."""
    assert 400 <= response.status_code < 500, (path, response.status_code, response.text)
    if path.startswith("/mem0"):
        assert response.headers["content-type"] == "application/json"
        assert response.json()["detail"], response.text
    elif path.startswith("/api/memory"):
        assert response.json()["code"] != 0


@pytest.mark.parametrize(
    "credential", [b"", b"Bearer", b"Bearer ", b"Bearer \xe9\xff", b"Token \xff", b"Bearer " + b"k" * 30_000, b"Basic eDp5"]
)
async def test_no_odd_credential_is_a_defect(attacked: Attacked, credential: bytes) -> None:
    for method, path in ROUTES:
        response = await attacked.http.request(method, path, headers=[(b"authorization", credential)], content=b"{}")
        assert response.status_code == 401, (path, response.text)
        assert "server-error" not in response.text


async def test_a_rebound_web_page_reads_and_writes_nothing(attacked: Attacked) -> None:
    """A page whose host name was changed to this machine's address sends its own `Host` and `Origin`, and knows no key."""
    page = {"Host": "evil.example:8080", "Origin": "http://evil.example:8080"}
    before = await change_count(attacked.service)
    for method, path in (*ROUTES, ("GET", "/v1/memories"), ("POST", "/v1/messages"), ("POST", "/v1/recall")):
        refused = await attacked.http.request(method, path, headers=page, content=b"{}")
        assert refused.status_code == (403 if path == "/mcp" else 401), (path, refused.text)
        asked = {**page, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": "authorization"}
        allowed = await attacked.http.request("OPTIONS", path, headers=asked)
        assert not any(each.startswith("access-control-") for each in (*refused.headers, *allowed.headers)), path
    assert await change_count(attacked.service) == before


READS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("/mem0/v3/memories/", {}),
    ("/mem0/server/search", {"query": "Where?", "filters": {"user_id": "ann"}}),
    ("/api/memory/search", {"collection_name": "companion", "filter": {"user_id": "ann"}}),
    ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list", "arguments": {}}}),
)


@pytest.mark.parametrize(("path", "body"), READS)
async def test_facades_accept_only_valid_tokens(attacked: Attacked, path: str, body: dict[str, Any]) -> None:
    async def ask(token: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}" if path != "/mem0/v3/memories/" else f"Token {token}"}
        return await attacked.http.post(path, json=body, headers={"Accept": "application/json, text/event-stream", **headers})

    good = await ask(attacked.issuer.token())
    assert good.status_code == 200, good.text
    assert OSLO.content in good.text
    assert BERLIN.content not in good.text
    for claims in ({"exp": 1}, {"aud": "another"}, {"aud": None}, {"iss": "https://evil.example"}, {"tenant": None}, {"nbf": 10**10}):
        refused = await ask(attacked.issuer.token(**claims))
        assert refused.status_code == 401, (claims, refused.text)
        expect_refusal(refused, path)
    assert LIMA.content in (await ask(attacked.issuer.token(tenant="umbrella"))).text
    assert OSLO.content not in (await ask(attacked.issuer.token(tenant="umbrella"))).text


async def test_cursors_of_others_show_nothing(attacked: Attacked) -> None:
    for cursor in (OSLO.id, BERLIN.id, "0" * 32, "x", "' OR 1=1", "\ufffd", "9" * 200):
        response = await attacked.send("GET", "/v1/memories", "umbrella", params={"after": cursor})
        assert response.status_code in (200, 422), response.text
        assert not any(each.content in response.text for each in (OSLO, BERLIN, CAT)), cursor
        response = await attacked.send("GET", "/v1/memories", "bob", params={"after": cursor})
        assert not any(each.content in response.text for each in (OSLO, CAT, LIMA)), cursor


async def test_an_odd_request_id_is_no_defect(attacked: Attacked) -> None:
    for method, path in ROUTES:
        response = await attacked.http.request(
            method, path, headers=[(b"x-api-key", attacked.keys["reader"].encode()), (b"x-request-id", b"\xe9\xff")], content=b"{}"
        )
        assert response.status_code < 500, (path, response.text)


BROKEN: Final = (b"", b"{", b"[]", b"null", b'"x"', b"7", b"\xff\xfe{}", b"[" * 5000, b"user_id=ann", b'{"user_id":"\\ud800"}', b"9" * 5000)
TYPES: Final = ("application/json", "text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded")


@pytest.mark.parametrize(("body", "content_type"), [*zip(BROKEN, cycle(TYPES), strict=False)])
async def test_broken_bodies_are_refused_and_change_nothing(attacked: Attacked, body: bytes, content_type: str) -> None:
    before = await change_count(attacked.service)
    for method, path in ROUTES:
        response = await attacked.send(method, path, content=body, headers={"Content-Type": content_type})
        expect_refusal(response, path)
    assert await change_count(attacked.service) == before


async def test_bodies_beyond_the_limit_are_refused(attacked: Attacked) -> None:
    body = orjson.dumps({"query": "x" * 250_000, "user_id": "ann"})
    for method, path in ROUTES:
        assert (await attacked.send(method, path, content=body)).status_code in (400, 413), path


@pytest.mark.parametrize("seed", range(6))
async def test_random_bodies_never_cause_a_defect(attacked: Attacked, seed: int) -> None:
    numbers = random.Random(seed)
    for method, path in ROUTES:
        for _ in range(8):
            body = {numbers.choice(NAMES): random_value(numbers, 3) for _ in range(numbers.randrange(1, 6))}
            if path.startswith("/api/memory"):
                body["collection_name"] = "companion"
            # A key that may only read: a body that happens to be valid changes nothing.
            response = await attacked.send(method, path, "reader", content=orjson.dumps(body, option=orjson.OPT_NON_STR_KEYS))
            assert response.status_code < 500, (path, body, response.text)


def random_value(numbers: random.Random, depth: int) -> Any:
    kind = numbers.randrange(4) if depth else 0
    if kind == 1:
        return [random_value(numbers, depth - 1) for _ in range(numbers.randrange(3))]
    if kind == 2:
        return {numbers.choice(NAMES): random_value(numbers, depth - 1) for _ in range(numbers.randrange(3))}
    return numbers.choice(VALUES)


@pytest.mark.parametrize(
    "query",
    [
        "filters=",
        "filters=%7B%7D",
        "filters=None",
        "filters=ann",
        "filters=%7B'user_id'%3A%20ann%7D",
        "filters=%7B'user_id'%3A%20None%7D",
        "filters=%7B'userId'%3A%20'ann'%7D",
        "filters=%7B'user_id'%3A%20'%5Cud800'%7D",
        "filters=%5B%5D",
        "filters=%5B%7B'user_id'%3A%20'ann'%7D%5D",
        "filters=set()",
        "filters=%7B'OR'%3A%20%5B%5D%7D",
        "filters=%7B'AND'%3A%20%5B%7B%7D%5D%7D",
        "filters=%7B'user_id'%3A%20'ann'%7D&filters=%7B'user_id'%3A%20'bob'%7D",
        "filters=" + "(" * 900,
        "filters=__import__('os').getcwd()",
        "userId=ann",
        "user=ann",
        "user_id=",
        "user_id=ann&user_id=bob",
        "user_id=ann&agent=coach",
        "user_id=ann&filter=%7B%7D",
        "",
    ],
)
async def test_unclear_deletions_delete_nothing(attacked: Attacked, query: str) -> None:
    before = await change_count(attacked.service)
    response = await attacked.send("DELETE", f"/mem0/v1/memories/?{query}")
    expect_refusal(response, "/mem0")
    assert response.status_code == 400, response.text
    assert await change_count(attacked.service) == before


Call = Callable[[str], tuple[str, str, dict[str, Any]]]
FOREIGN: Final[tuple[Call, ...]] = (
    lambda each: ("GET", f"/mem0/v1/memories/{each}/", {}),
    lambda each: ("GET", f"/mem0/v1/memories/{each}/history/", {}),
    lambda each: ("PUT", f"/mem0/v1/memories/{each}/", {"text": "changed"}),
    lambda each: ("DELETE", f"/mem0/v1/memories/{each}/", {}),
    lambda each: ("PUT", "/mem0/v1/batch/", {"memories": [{"memory_id": each, "text": "changed"}]}),
    lambda each: ("DELETE", "/mem0/v1/batch/", {"memories": [{"memory_id": each}]}),
    lambda each: ("GET", f"/mem0/server/memories/{each}", {}),
    lambda each: ("PUT", f"/mem0/server/memories/{each}", {"text": "changed"}),
    lambda each: ("DELETE", f"/mem0/server/memories/{each}", {}),
    lambda each: ("POST", "/api/memory/event/update", {"event_id": each, "memory_info": {"summary": "changed"}}),
    lambda each: ("POST", "/api/memory/event/delete", {"event_id": each}),
    lambda each: ("POST", "/api/memory/profile/update", {"profile_id": each, "memory_info": {"home": "Rome"}}),
    lambda each: ("POST", "/mcp", tool_call("get", memory_id=each)),
    lambda each: ("POST", "/mcp", tool_call("correct", memory_id=each, content="changed")),
    lambda each: ("POST", "/mcp", tool_call("forget", memory_id=each)),
)


def tool_call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize("call", FOREIGN)
@pytest.mark.parametrize(("key", "foreign"), [("umbrella", OSLO), ("acme", LIMA), ("bob", CAT)])
async def test_foreign_ids_are_unknown_in_every_facade(attacked: Attacked, call: Call, key: str, foreign: Any) -> None:
    unknown = "00000000-0000-0000-0000-000000000000"
    before = await change_count(attacked.service)
    answers = []
    for each in (foreign.id, unknown):
        method, path, body = call(each)
        fields = {"collection_name": "companion", **body} if path.startswith("/api/memory") else body
        response = await attacked.send(method, path, key, content=orjson.dumps(fields) if fields else b"")
        text = response.text.replace(each, "ID")
        if path.startswith("/api/memory"):
            text = str({name: value for name, value in orjson.loads(text).items() if name != "request_id"})
        answers.append((response.status_code, text))
        assert foreign.content not in response.text
    assert answers[0] == answers[1], "another's id is answered as one that never was"
    assert await change_count(attacked.service) == before


TOOLS: Final = (
    *("remember", "recall", "context", "get", "list", "correct", "forget", "status", "history"),
    *("block_read", "block_search", "block_append", "block_replace", "block_insert", "block_undo"),
)
ARGUMENTS: Final = (
    *("user", "session", "text", "query", "memory_id", "content", "properties", "date", "event_time", "importance", "confirmation"),
    *("erasure", "entity_type", "key", "block", "role", "speaker", "after", "limit", "kinds", "types", "since", "until", "page", "line"),
)
ODD: Final[tuple[Any, ...]] = ("x", "..", "\x00", "\u202e" * 300, 10**30, [], {"x": None})
DEFECTS: Final = ("codec", "Traceback", "NoneType", "KeyError", "has no attribute", "not supported between", "Internal")


@pytest.mark.parametrize("tool", TOOLS)
async def test_odd_arguments_of_tools_cause_no_defect(attacked: Attacked, tool: str) -> None:
    numbers = random.Random(tool)
    bodies = [tool_call(tool, **{numbers.choice(ARGUMENTS): random_value(numbers, 2) for _ in range(4)}) for _ in range(12)]
    bodies += [tool_call(tool, **dict.fromkeys(ARGUMENTS, value)) for value in ODD]
    bodies += [tool_call(tool, **{name: "x"}, user="?") for name in ARGUMENTS if name != "user"]
    texts = [json.dumps(each) for each in bodies]
    texts += [each.replace('"?"', '"\\ud800"') for each in texts if '"?"' in each]
    for text in texts:
        response = await attacked.send("POST", "/mcp", "reader", content=text, headers={"Content-Type": "application/json"})
        assert response.status_code < 500, (text, response.text)
        assert not any(each in response.text for each in DEFECTS), (text, response.text)


async def test_a_call_of_a_tool_has_a_bound(service: RunningService, attacked: Attacked) -> None:
    async def send(**arguments: Any) -> httpx.Response:
        headers = {"X-API-Key": attacked.keys["reader"], "Accept": "application/json, text/event-stream"}
        return await http.post("/mcp", json=tool_call("recall", query="x", **arguments), headers=headers)

    plain = service.settings.model_copy(update={"mcp": McpSettings(enabled=True), "service": ServiceSettings()})
    async with serving(plain) as http:
        began = time.process_time()
        response = await send(**{f"n{each}": 0 for each in range(100_000)})
        assert "n0, n1, n10, n100, n1000 and 99995 more: unknown argument" in response.text
        assert time.process_time() - began < 2
        assert (await send(user="x" * MAX_BYTES)).status_code == 413
        assert (await send(kinds=[0] * 200_000)).status_code == 413


async def test_a_bound_key_lists_no_other_user(attacked: Attacked) -> None:
    asked: tuple[tuple[str, dict[str, Any]], ...] = (
        ("/mem0/v3/memories/", {}),
        ("/mem0/v3/memories/", {"filters": {"OR": [{"user_id": "bob"}, {"user_id": {"ne": "bob"}}]}}),
        ("/mem0/v3/memories/search/", {"query": "Where did Ann move?", "filters": {"NOT": [{"user_id": "bob"}]}}),
        ("/api/memory/search", {"collection_name": "companion", "filter": {"assistant_id": "coach"}, "query": "Ann"}),
    )
    for path, body in asked:
        response = await attacked.send("POST", path, "bob", json=body)
        assert response.status_code == 200, response.text
        assert not any(each.content in response.text for each in (OSLO, CAT, LIMA)), path
    assert BERLIN.content in (await attacked.send("POST", "/mem0/v3/memories/", "bob", json={})).text
    for path, body in (
        ("/mem0/v3/memories/", {"filters": {"user_id": "ann"}}),
        ("/api/memory/search", {"collection_name": "companion", "filter": {"user_id": "ann"}}),
    ):
        assert (await attacked.send("POST", path, "bob", json=body)).status_code == 403
    assert (await attacked.send("DELETE", "/mem0/v2/entities/user/ann/", "bob")).status_code == 403


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/mem0/v3/memories/search/", {"query": "x", "threshold": "high"}),
        ("/mem0/v3/memories/search/", {"query": "x", "threshold": True}),
        ("/mem0/v3/memories/search/", {"query": "x", "filters": {"user_id": {"in": [f"u{each}" for each in range(101)]}}}),
        ("/mem0/v3/memories/search/", {"query": "x", "metadata": {"source": "app"}}),
        ("/mem0/v3/memories/search/", {"query": "x", "reference_date": "2024-01-01"}),
        ("/mem0/v3/memories/search/", {"query": "x", "fields": "memory"}),
        ("/mem0/v3/memories/", {"show_expired": True}),
        ("/mem0/v3/memories/", {"start_date": "soon"}),
        ("/mem0/v3/memories/", {"categories": [7]}),
        ("/mem0/v3/memories/add/", {"messages": "I moved.", "user_id": {"in": ["ann"]}}),
        ("/mem0/v3/memories/add/", {"messages": "I moved.", "user_id": True}),
        ("/mem0/v3/memories/add/", {"messages": "I moved.", "user_id": "agent:coach"}),
        ("/mem0/v3/memories/add/", {"messages": "I moved.", "user_id": "ann", "timestamp": 253402300799}),
        ("/mem0/v3/memories/add/", {"messages": "I moved.", "user_id": "ann", "observation_date": "2024-01-01"}),
        ("/mem0/v3/memories/add/", {"messages": "I moved.", "user_id": "ann", "infer": "no"}),
    ],
)
async def test_mem0_options_are_refused_not_ignored(attacked: Attacked, path: str, body: dict[str, Any]) -> None:
    before = await change_count(attacked.service)
    response = await attacked.send("POST", path, json=body)
    assert response.status_code == 400, response.text
    assert await change_count(attacked.service) == before


async def test_mem0_options_restrict_a_list(attacked: Attacked) -> None:
    async def contents(**options: Any) -> set[str]:
        response = await attacked.send("POST", "/mem0/v3/memories/", json={"filters": {"user_id": "ann"}, **options})
        return {each["memory"] for each in response.json()["results"]}

    assert await contents() == await contents(categories=["life_event"], start_date="2024-05-06", end_date="2024-05-07")
    assert await contents(categories="mood") == await contents(start_date="2024-05-07") == await contents(end_date="2024-05-05") == set()
    response = await attacked.send("POST", "/mem0/v3/memories/", json={"filters": {"user_id": "ann"}, "fields": ["memory", "colour"]})
    assert all(each.keys() == {"id", "memory"} for each in response.json()["results"])
