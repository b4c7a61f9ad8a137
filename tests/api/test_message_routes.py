"""The routes that produce: messages and flushes, durable at the position in the response."""

import httpx
import orjson
import pytest

from memory.headers import COMMAND, KIND
from memory.keys import encode_key, partition_of
from memory.records import Message, SessionCommand
from runtime.tracing import PRODUCED_AT, TRACEPARENT
from tests.api.running_service import NOON, OSLO, PARENT, PARTITIONS, RunningService, expect_problem, record_at
from tests.streams.flow import serving as serving_stages
from tests.streams.harness import until_true

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]


async def test_a_message_is_durable_at_the_returned_position(service: RunningService) -> None:
    body = {"user": "ann", "session": "s/1", "text": "I moved to Oslo.", "event_time": "2024-05-06T12:00:00Z"}
    response = await service.http.post("/v1/messages", json=body, headers={**service.auth("acme"), "traceparent": PARENT})
    assert response.status_code == 200, response.text
    answer = response.json()
    key = encode_key("acme", "s/1")
    assert answer["position"]["topic"] == service.settings.topic("messages")
    assert answer["position"]["partition"] == partition_of(key, PARTITIONS)
    record = await record_at(service, answer["position"])
    assert record.key == key
    message = Message.from_json(record.value)
    assert (message.tenant, message.user, message.id, message.event_time) == ("acme", "ann", answer["id"], NOON)
    headers = dict(record.headers)
    assert headers[TRACEPARENT].decode().split("-")[1] == PARENT.split("-")[1]
    assert int(headers[PRODUCED_AT]) > NOON.timestamp() * 1000
    assert KIND not in headers


async def test_a_bad_item_does_not_affect_its_batch(service: RunningService) -> None:
    good = [{"user": "ann", "session": "batch", "id": f"m{number}", "text": str(number)} for number in range(3)]
    large = {"user": "ann", "session": "batch", "id": "large", "text": "x" * 50_000}
    batch = [good[0], {"user": "ann"}, good[1], {**good[2], "tenant": "umbrella"}, large, good[2]]
    response = await service.http.post("/v1/messages", json=batch, headers=service.auth("acme"))
    items = response.json()["items"]
    assert response.status_code == 207
    assert [(item["index"], item["status"]) for item in items] == [(0, 200), (1, 422), (2, 200), (3, 422), (4, 413), (5, 200)]
    assert "session: Field required" in items[1]["problem"]["detail"]
    assert "API key" in items[3]["problem"]["detail"]
    assert "over the limit" in items[4]["problem"]["detail"]
    offsets = [item["position"]["offset"] for item in items if item["status"] == 200]
    assert offsets == sorted(offsets)
    for item in items:
        if item["status"] == 200:
            assert Message.from_json((await record_at(service, item["position"])).value).id == item["id"]
    assert (await service.http.post("/v1/messages", json=good, headers=service.auth("acme"))).status_code == 200


async def test_a_malformed_request_is_one_problem(service: RunningService) -> None:
    async def post(content: bytes) -> httpx.Response:
        return await service.http.post("/v1/messages", content=content, headers=service.auth("acme"))

    message = {"user": "ann", "session": "s", "text": "x"}
    expect_problem(await post(b"{"), 422, "not JSON")
    expect_problem(await post(b"[]"), 422, "list of messages is empty")
    expect_problem(await post(orjson.dumps([message] * 51)), 413, "the limit is 50")
    expect_problem(await post(orjson.dumps({**message, "text": "x" * 60_000})), 413, "over the limit of 33616")
    expect_problem(await post(b" " * 200_001), 413, "200000 bytes")
    expect_problem(await post(orjson.dumps({**message, "tenant": "umbrella"})), 422, "tenant comes from the API key")


@pytest.mark.parametrize("number", ["18446744073709551616", "-9223372036854775809", "1" * 300])
async def test_only_the_message_with_an_oversized_integer_is_refused(service: RunningService, number: str) -> None:
    message = '{"user": "ann", "session": "numbers", "text": "x", "metadata": {"order": %s}}'
    batch = f"[{message % number}, {message % '18446744073709551615'}]"
    refused = await service.http.post("/v1/messages", content=message % number, headers=service.auth("acme"))
    expect_problem(refused, 422, "metadata.order: Integer exceeds 64-bit range")
    response = await service.http.post("/v1/messages", content=batch, headers=service.auth("acme"))
    items = response.json()["items"]
    assert [item["status"] for item in items] == [422, 200]
    kept = Message.from_json((await record_at(service, items[1]["position"])).value)
    assert kept.metadata == {"order": 18446744073709551615}


@pytest.mark.parametrize(
    ("field", "status", "detail"),
    [
        ('"event_time": "0001-01-01T00:00:00+14:00"', 422, "between 1000 and 8999"),
        ('"event_time": "9999-12-31T23:59:59-14:00"', 422, "between 1000 and 8999"),
        ('"schema_version": "%s.0"' % ("9" * 5000), 422, "schema_version"),
        ('"metadata": {"number": %s}' % ("9" * 5000), 422, "infinity when parsed"),
        ('"metadata": {"list": %s}' % ("[" * 200 + "]" * 200), 422, "nested at most 100 deep"),
        ('"text": "%s"' % ("y" * 33_600), 413, "over the limit of 33616"),
    ],
)
async def test_messages_that_no_stage_could_process_are_refused(service: RunningService, field: str, status: int, detail: str) -> None:
    content = f'{{"user": "ann", "session": "edge", {field}}}'.encode()
    expect_problem(await service.http.post("/v1/messages", content=content, headers=service.auth("acme")), status, detail)


async def test_a_body_nested_too_deeply_is_refused(service: RunningService) -> None:
    depth = 1000
    content = b'{"user": "ann", "session": "s", "metadata": {"%s": %s}}' % (b"1" * 19, b"[" * depth + b"]" * depth)
    expect_problem(await service.http.post("/v1/messages", content=content, headers=service.auth("acme")), 422, "nested too deeply")


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
async def test_every_route_refuses_a_missing_or_wrong_key(service: RunningService, method: str, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"X-API-Key": "wrong"}, {"Authorization": f"Basic {service.keys['acme']}"}):
        response = await service.http.request(method, path, headers=headers, json={"query": "x"} if method == "POST" else None)
        expect_problem(response, 401, "API key")
        assert response.headers["www-authenticate"] == "Bearer"


async def test_the_key_may_be_sent_in_x_api_key(service: RunningService) -> None:
    response = await service.http.get(f"/v1/memories/{OSLO.id}", headers={"X-API-Key": service.keys["acme"]})
    assert response.status_code == 200


async def test_a_flush_follows_the_messages_of_its_session(service: RunningService) -> None:
    message = {"user": "ann", "session": "flushed", "text": "x"}
    sent = (await service.http.post("/v1/messages", json=message, headers=service.auth("acme"))).json()["position"]
    response = await service.http.post("/v1/flush", json={"session": "flushed"}, headers=service.auth("acme"))
    (position,) = response.json()["positions"]
    assert position["partition"] == sent["partition"]
    assert position["offset"] > sent["offset"]
    record = await record_at(service, position)
    assert record.key == encode_key("acme", "flushed")
    assert dict(record.headers)[KIND] == COMMAND
    assert SessionCommand.from_json(record.value) == SessionCommand(command="flush", tenant="acme", session="flushed")


@pytest.mark.parametrize("body", [b"", b"{}"])
async def test_a_tenant_flush_reaches_every_partition(service: RunningService, body: bytes) -> None:
    response = await service.http.post("/v1/flush", content=body, headers={**service.auth("acme"), "Content-Type": "application/json"})
    positions = response.json()["positions"]
    assert [position["partition"] for position in positions] == list(range(PARTITIONS))
    for position in positions:
        record = await record_at(service, position)
        assert record.key == encode_key("acme")
        assert SessionCommand.from_json(record.value) == SessionCommand(command="flush", tenant="acme")


async def test_a_bound_key_uses_up_no_ids_of_others(service: RunningService) -> None:
    session, texts = "bobs-chat", ["My flight to Lisbon leaves on Friday.", "I am allergic to penicillin.", "I moved in with Nora."]

    async def send(caller: str, said: list[str]) -> None:
        batch = [{"session": session, "id": f"m{number}", "text": text} for number, text in enumerate(said)]
        response = await service.http.post("/v1/messages", json=batch, headers=service.auth(caller))
        assert response.status_code == 200, response.text

    async def seen_by(caller: str) -> list[str]:
        response = await service.http.get(f"/v1/sessions/{session}", headers=service.auth(caller))
        return [each["message"]["text"] for each in response.json()["messages"]]

    await send("acme/ann", ["x"] * len(texts))
    await send("acme/bob", texts)
    await send("acme/bob", texts)
    await send("acme/bob", [*texts, "Good night."])

    async def is_stored() -> bool:
        return "Good night." in await seen_by("acme/bob")

    async with serving_stages(service.settings, ["sessions"]):
        await until_true(is_stored)
    assert await seen_by("acme/bob") == [*texts, "Good night."], "each of bob's messages is stored, and once"
    assert await seen_by("acme/ann") == ["x"] * len(texts)
