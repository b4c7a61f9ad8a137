"""A recall that names a message returns it, or reports that it is missing; on a real Kafka, Redis, Edge store and embedding model."""

import asyncio
import time
from typing import Any

import orjson
import pytest

from control.access_keys import hash_key, key_id_of
from control.key_changes import revoke_key
from runtime.redis.session_tail import SessionView, TailUpdate, TailWindow
from stores.build import build_store
from stores.position import FeedPosition
from tests.api.running_service import NOON, RunningService, expect_problem, index, memory, when_known
from tests.control_log import add_key, write
from tests.waiting import until_async

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

DEADLINE_MS = 60_000


async def sent(service: RunningService, session: str) -> dict[str, Any]:
    message = {"user": "ann", "session": session, "text": "I moved to Bergen."}
    response = await service.http.post("/v1/messages", json=message, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def asking(session: str, written: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"query": "Where does Ann live?", "user": "ann", "session": session, "after": written, "deadline_ms": DEADLINE_MS, **fields}


async def show(service: RunningService, session: str, written: dict[str, Any], *, with_message: bool = True, user: str = "ann") -> None:
    """Writes the tail as the sessions stage does when it has reached the message."""
    raw = orjson.dumps({"tenant": "acme", "user": user, "session": session, "id": written["id"], "text": "I moved.", "event_time": NOON})
    place = written["position"]
    view = SessionView(open=TailWindow(0, (raw,) if with_message else (b'{"id":"another"}',)))
    await service.tail.write([TailUpdate("acme", session, view, place["partition"], place["offset"])])


@pytest.mark.parametrize("path", ["/v1/recall", "/v1/context"])
async def test_a_message_in_the_tail_is_had(service: RunningService, path: str) -> None:
    session = f"tail{path}"
    written = await sent(service, session)
    await show(service, session, written)
    answer = await service.answer(path, asking(session, written))
    assert answer["after"] == {"id": written["id"], "found_in": "tail", "reached": True}
    assert written["id"] in orjson.dumps(answer).decode().replace(orjson.dumps(answer["after"]).decode(), "")
    assert answer["positions"]["session"] == written["position"]


async def test_a_repeated_message_may_be_waited_for(service: RunningService) -> None:
    message = {"user": "ann", "session": "twice", "id": "m1", "text": "I moved to Bergen."}
    for _ in range(2):
        written = (await service.http.post("/v1/messages", json=message, headers=service.auth("acme"))).json()
    assert written["repeated"] is True
    await show(service, "twice", written)
    answer = await service.answer("/v1/recall", asking("twice", written))
    assert answer["after"] == {"id": "m1", "found_in": "tail", "reached": True}


@pytest.mark.parametrize("path", ["/v1/recall", "/v1/context"])
async def test_a_message_on_its_way_is_waited_for(service: RunningService, path: str) -> None:
    session = f"way{path}"
    written = await sent(service, session)
    asked = asyncio.create_task(service.answer(path, asking(session, written)))
    # Other requests are answered while it waits.
    assert (await service.http.get("/healthz")).status_code == 200
    assert not asked.done()
    await show(service, session, written)
    assert (await asked)["after"]["found_in"] == "tail"


async def test_a_message_in_the_index_is_had(service: RunningService) -> None:
    written = await sent(service, "indexed")
    await show(service, "indexed", written, with_message=False)
    bergen = memory("acme", "ann", "Ann moved to Bergen", session="indexed", message_ids=[written["id"]])
    await index(service.settings, [bergen])
    answer = await service.answer("/v1/recall", asking("indexed", written))
    assert answer["after"] == {"id": written["id"], "found_in": "index", "reached": True}
    assert bergen.id in {each["id"] for each in answer["results"]}


async def test_a_missing_message_is_reported_after_the_deadline(service: RunningService) -> None:
    written = await sent(service, "never")
    elsewhere = memory("acme", "ann", "Ann moved to Lyon", session="elsewhere", message_ids=[written["id"]])
    await index(service.settings, [elsewhere])
    started = time.monotonic()
    answer = await service.answer("/v1/recall", asking("never", written, deadline_ms=10_000))
    assert time.monotonic() - started >= 2
    assert answer["after"] == {"id": written["id"], "found_in": None, "reached": False}
    await show(service, "never", written, with_message=False)
    answer = await service.answer("/v1/recall", asking("never", written, deadline_ms=10_000))
    assert answer["after"] == {"id": written["id"], "found_in": None, "reached": True}
    assert answer["results"]


async def test_anothers_message_is_not_there(service: RunningService) -> None:
    written = await sent(service, "of-bob")
    await show(service, "of-bob", written, user="bob")
    for caller in ("acme/ann", "acme", "umbrella"):
        body = asking("of-bob", written, deadline_ms=6000)
        response = await service.http.post("/v1/recall", json=body, headers=service.auth(caller))
        assert response.json()["after"]["found_in"] is None, response.text


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"session": None}, "needs the session"),
        ({"after": {"id": "m"}}, "after.position"),
        ({"after": {"id": "m", "position": {"topic": "elsewhere", "partition": 0, "offset": 0}}}, "after.position.topic"),
        ({"after": {"id": "m", "position": {"topic": "t", "partition": 0, "offset": -1}}}, "after.position.offset"),
    ],
)
async def test_a_wrong_position_is_refused(service: RunningService, change: dict[str, Any], detail: str) -> None:
    written = {"id": "m", "position": {"topic": service.settings.topic("messages"), "partition": 0, "offset": 0}}
    body = {**asking("s", written), **change}
    for path in ("/v1/recall", "/v1/context"):
        expect_problem(await service.http.post(path, json=body, headers=service.auth("acme")), 422, detail)


async def test_an_answer_names_the_positions_it_includes(service: RunningService) -> None:
    store = build_store(service.settings)
    await store.set_checkpoint(FeedPosition(0, 41))
    await store.close()
    feed = service.settings.topic("memories")
    async with asyncio.timeout(60):
        while True:
            answer = await service.answer("/v1/recall", {"query": "Where does Ann live?"})
            if answer["positions"]["memories"]:
                break
    assert answer["positions"] == {"memories": [{"topic": feed, "partition": 0, "offset": 41}], "session": None}


@pytest.mark.parametrize("path", ["/v1/recall", "/v1/context"])
async def test_a_key_revoked_meanwhile_gets_nothing(service: RunningService, path: str) -> None:
    key = await add_key(service.settings, "acme")
    headers = await when_known(service, key)
    written = await sent(service, session := f"revoked{path}")
    waiting = asyncio.create_task(service.http.post(path, json=asking(session, written), headers=headers))
    await write(service.settings, lambda draft: revoke_key(draft, "acme", key_id_of(hash_key(key))))
    await until_async(lambda: service.http.get("/v1/status", headers=headers), lambda answer: answer.status_code == 401, deadline_s=60)
    assert not waiting.done()
    await show(service, session, written)
    expect_problem(await waiting, 401, "revoked")
