"""``Idempotency-Key``: a POST that is sent again takes effect once."""

import asyncio
import uuid
from typing import Any

import httpx
import pytest

from api.writes.idempotency import STATUS_HEADER
from memory.ids import window_id
from tests.api.running_service import RunningService, end_offsets, expect_problem, index, memory, record_at, serving

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

MESSAGE = {"user": "ann", "session": "once", "text": "I moved to Oslo."}


async def post(service: RunningService, body: Any, key: str, *, path: str = "/v1/messages", tenant: str = "acme") -> httpx.Response:
    return await service.http.post(path, json=body, headers={**service.auth(tenant), "Idempotency-Key": key})


async def test_a_request_sent_again_gets_the_first_answer(service: RunningService) -> None:
    key = str(uuid.uuid4())
    first = await post(service, MESSAGE, key)
    ends = await end_offsets(service, "messages")
    again = await post(service, MESSAGE, f'"{key}"')
    assert (first.status_code, first.headers[STATUS_HEADER]) == (200, "kept")
    assert (again.status_code, again.headers[STATUS_HEADER], again.json()) == (200, "replayed", first.json())
    assert await end_offsets(service, "messages") == ends


async def test_a_key_of_another_request_is_refused(service: RunningService) -> None:
    key = str(uuid.uuid4())
    await post(service, MESSAGE, key)
    problem = expect_problem(await post(service, {**MESSAGE, "text": "x"}, key), 422, "another request")
    assert problem["type"] == "urn:varve:problem:idempotency-key-reused"
    expect_problem(await post(service, {}, key, path="/v1/flush"), 422, "another request")
    assert (await post(service, {**MESSAGE, "text": "x"}, key, tenant="umbrella")).status_code == 200


async def test_a_query_is_part_of_the_request(service: RunningService) -> None:
    boat = memory("acme", "ann", "Ann has a boat", window_id=window_id("acme", "once", 0), session="once")
    await index(service.settings, [boat])
    headers = {**service.auth("acme"), "Idempotency-Key": str(uuid.uuid4())}

    async def delete(reason: str) -> httpx.Response:
        return await service.http.delete(f"/v1/memories/{boat.id}", params={"reason": reason}, headers=headers)

    assert (await delete("wrong")).headers[STATUS_HEADER] == "kept"
    assert (await delete("wrong")).headers[STATUS_HEADER] == "replayed"
    expect_problem(await delete("other"), 422, "another request")


async def test_one_of_concurrent_requests_is_executed(service: RunningService) -> None:
    key = str(uuid.uuid4())
    responses = await asyncio.gather(*(post(service, MESSAGE, key) for _ in range(8)))
    assert {each.status_code for each in responses} <= {200, 409}
    assert [each.headers.get(STATUS_HEADER) for each in responses].count("kept") == 1
    assert len({each.json()["id"] for each in responses if each.status_code == 200}) == 1
    for response in responses:
        if response.status_code == 409:
            assert expect_problem(response, 409, "in progress")
            assert int(response.headers["retry-after"]) > 0


async def test_a_key_of_a_rejected_request_is_reusable(service: RunningService) -> None:
    key = str(uuid.uuid4())
    expect_problem(await post(service, {**MESSAGE, "role": "robot"}, key), 422, "role")
    assert (await post(service, MESSAGE, key)).status_code == 200


async def test_a_partly_accepted_batch_is_executed_again(service: RunningService) -> None:
    key, batch = str(uuid.uuid4()), [MESSAGE, {"user": "ann"}]
    first, again = [await post(service, batch, key) for _ in range(2)]
    assert [each.status_code for each in (first, again)] == [207, 207]
    assert [each.headers[STATUS_HEADER] for each in (first, again)] == ["not-kept", "not-kept"]
    assert first.json()["items"][0]["id"] == again.json()["items"][0]["id"], "the same message, whatever became of the first"


async def test_a_mended_batch_under_its_key_is_another(service: RunningService) -> None:
    key, cat = str(uuid.uuid4()), {**MESSAGE, "text": "My cat is called Miso."}
    first = await post(service, [MESSAGE, {**cat, "role": "robot"}], key)
    mended = await post(service, [cat], key)
    assert (first.status_code, mended.status_code, mended.headers[STATUS_HEADER]) == (207, 200, "kept")
    taken, sent_anew = first.json()["items"][0], mended.json()["items"][0]
    assert sent_anew["id"] != taken["id"], "with the id of the first one's message, it would be taken for it"


@pytest.mark.parametrize("key", ["", "x" * 257, "a b", '"', "\x7f", "é"])
async def test_a_key_of_another_form_is_refused(service: RunningService, key: str) -> None:
    response = await service.http.post(
        "/v1/messages",
        json=MESSAGE,
        headers=[(b"authorization", f"Bearer {service.keys['acme']}".encode()), (b"idempotency-key", key.encode())],
    )
    if key == '"':
        assert response.status_code == 200
    else:
        expect_problem(response, 422, "Idempotency-Key: 1 to 256 visible")


async def test_a_flush_sent_again_closes_no_second_window(service: RunningService) -> None:
    key = str(uuid.uuid4())
    first, again = [await post(service, {"session": "once"}, key, path="/v1/flush") for _ in range(2)]
    assert again.headers[STATUS_HEADER] == "replayed"
    assert first.json() == again.json()


async def test_without_redis_a_message_keeps_its_id(service: RunningService) -> None:
    redis = service.settings.redis.model_copy(update={"url": "redis://127.0.0.1:1/0"})
    key = {"Idempotency-Key": str(uuid.uuid4()), **service.auth("acme")}
    async with serving(service.settings.model_copy(update={"redis": redis})) as http:
        first, again = [await http.post("/v1/messages", json=MESSAGE, headers=key) for _ in range(2)]
        other = await http.post("/v1/messages", json={**MESSAGE, "text": "My cat is called Miso."}, headers=key)
    assert (other.status_code, other.headers[STATUS_HEADER]) == (200, "not-kept")
    assert other.json()["id"] != first.json()["id"], "another message"
    assert [each.headers[STATUS_HEADER] for each in (first, again)] == ["not-kept", "not-kept"]
    assert first.json()["id"] == again.json()["id"]
    assert first.json()["position"] != again.json()["position"]
    assert first.json()["id"].encode() in (await record_at(service, again.json()["position"])).value
