"""The original messages of a memory: from the session's tail, else from the log of windows."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.keys import distinct_key
from memory.records import Memory, Message, Window
from runtime.kafka import OutgoingRecord, Producer
from runtime.redis.session_tail import SessionView, TailUpdate, TailWindow
from tests.api.running_service import NOON, OSLO, RunningService, expect_problem, index, memory
from tests.made_records import made_window
from tests.streams.harness import until_true

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]


def said(user: str, number: int, text: str, *, session: str = "talk") -> Message:
    at = NOON + timedelta(minutes=number)
    return Message(tenant="acme", user=user, session=session, id=f"m{number}", speaker=user.title(), text=text, event_time=at)


async def evidence_of(service: RunningService, shown: Memory, *, key: str = "acme") -> dict[str, Any]:
    path = f"/v1/memories/{shown.id}"

    async def is_indexed() -> bool:
        return (await service.http.get(path, headers=service.auth(key))).status_code == 200

    await until_true(is_indexed)
    response = await service.http.get(f"{path}/evidence", headers=service.auth(key))
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


async def write_windows(service: RunningService, *windows: Window) -> None:
    async with Producer(kafka=service.settings.kafka) as producer:
        for each in windows:
            key = distinct_key(each.tenant, each.user)
            await producer.send_each([OutgoingRecord(service.settings.topic("windows"), key, each.to_json())])


def window(name: str, *messages: Message, revision: int = 0) -> Window:
    return made_window(list(messages), id=name, revision=revision)


async def test_recent_messages_are_shown(service: RunningService) -> None:
    moved = memory("acme", "ann", "Ann moved to Oslo with her cat", session="talk", message_ids=["m2", "m1", "gone"])
    await index(service.settings, [moved])
    closed = TailWindow(0, (said("ann", 1, "I moved.").to_json(), said("bob", 5, "Hm.").to_json()))
    tail = SessionView(closed=closed, open=TailWindow(1, (said("ann", 2, "In March.").to_json(),)))
    await service.tail.write([TailUpdate("acme", "talk", tail, 0, 1)])
    for key in ("acme", "acme/ann"):
        shown = await evidence_of(service, moved, key=key)
        assert [(each["id"], each["text"]) for each in shown["messages"]] == [("m1", "I moved."), ("m2", "In March.")]
        assert shown["missing"] == ["gone"]
    for key in ("umbrella", "acme/bob"):
        hidden = await service.http.get(f"/v1/memories/{OSLO.id}/evidence", headers=service.auth(key))
        expect_problem(hidden, 404, "no memory")


async def test_older_messages_are_read_from_the_newest_window(service: RunningService) -> None:
    edited = memory(
        "acme",
        "ann",
        "Ann plays the cello well",
        session="old",
        window_id="w1",
        message_ids=["m1", "m2", "m3"],
        event_time=datetime(1950, 1, 1, tzinfo=UTC),
    )
    await index(service.settings, [edited])
    first, wrong, secret = (said("ann", number, text, session="old") for number, text in enumerate(("I play", "the flute", "x"), 1))
    right = said("ann", 2, "the cello", session="old")
    others = said("bob", 3, "not Ann's words", session="old")
    await write_windows(service, window("w1", first, wrong, secret), window("w1", first, right, others, revision=1), window("w2", secret))
    shown = await evidence_of(service, edited)
    assert [(each["id"], each["text"]) for each in shown["messages"]] == [("m1", "I play"), ("m2", "the cello")]
    assert shown["missing"] == ["m3"], "it was deleted, and the message of the same id is another user's"
