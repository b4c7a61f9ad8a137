"""The list of sessions, and a dry run of the extraction of one."""

from datetime import timedelta

import pytest

from memory.records import Message
from memory.schema.methods import method_document
from runtime.kafka import KafkaOffsets
from runtime.redis.session_tail import SessionView, TailUpdate, TailWindow
from tests.api.running_service import NOON, RunningService, expect_problem

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

NOTES = {
    "Name": "notes",
    "EventTypes": [{"EventType": "note", "Description": "Anything said.", "Properties": []}],
    "EntityTypes": [],
}


def raw(user: str, number: int, text: str) -> bytes:
    at = NOON + timedelta(minutes=number)
    return Message(tenant="acme", user=user, session="talk", id=f"m{number}", speaker=user.title(), text=text, event_time=at).to_json()


async def write_tail(service: RunningService, session: str, *, closed: tuple[bytes, ...] = (), opened: tuple[bytes, ...] = ()) -> None:
    view = SessionView(closed=TailWindow(0, closed) if closed else None, open=TailWindow(1, opened) if opened else None)
    users = frozenset(Message.from_json(each).user for each in (*closed, *opened))
    await service.tail.write([TailUpdate("acme", session, view, 0, 1, users)])


async def test_sessions_are_listed_page_by_page(service: RunningService) -> None:
    await write_tail(service, "a/b c", closed=(raw("ann", 1, "Hello."),), opened=(raw("bob", 2, "Hi."), raw("ann", 3, "Bye.")))
    await write_tail(service, "bobs", opened=(raw("bob", 4, "Me again."),))
    first = (await service.http.get("/v1/sessions", params={"limit": 1}, headers=service.auth("acme"))).json()
    assert [each["session"] for each in first["sessions"]] == ["bobs"], "the one that was written last is the first"
    rest = (await service.http.get("/v1/sessions", params={"after": first["next"], "limit": 1}, headers=service.auth("acme"))).json()
    assert rest["sessions"] == [
        {
            "session": "a/b c",
            "users": ["ann", "bob"],
            "messages": 3,
            "last_message_at": "2024-05-06T12:03:00Z",
            "closed_window": {"sequence": 0, "message_count": 1},
            "open_window": {"sequence": 1, "message_count": 2},
        }
    ]
    ann = (await service.http.get("/v1/sessions", params={"user": "ann"}, headers=service.auth("acme"))).json()
    assert [(each["session"], each["messages"]) for each in ann["sessions"]] == [("a/b c", 2)]
    for place in ("bobs", "12-", "-bobs", "x" * 301):
        expect_problem(await service.http.get("/v1/sessions", params={"after": place}, headers=service.auth("acme")), 422, "after")


async def test_others_sessions_are_not_listed(service: RunningService) -> None:
    await write_tail(service, "bobs", opened=(raw("bob", 4, "Me again."),))
    assert (await service.http.get("/v1/sessions", headers=service.auth("umbrella"))).json() == {"sessions": [], "next": None}
    bound = (await service.http.get("/v1/sessions", headers=service.auth("acme/ann"))).json()
    assert "bobs" not in [each["session"] for each in bound["sessions"]]
    refused = await service.http.get("/v1/sessions", params={"user": "bob"}, headers=service.auth("acme/ann"))
    expect_problem(refused, 403, "another user")


async def test_a_preview_extracts_and_stores_nothing(service: RunningService) -> None:
    said = "I moved to Bergen last week, and I got a cat called Pixel."
    await write_tail(service, "talk", closed=(raw("ann", 1, said),), opened=(raw("ann", 2, "My sister is called Mia."),))
    topics = [service.settings.topic(each) for each in ("messages", "windows", "extractions", "usage")]
    async with KafkaOffsets(kafka=service.settings.kafka) as offsets:
        before = await offsets.end_offsets(topics)
        response = await service.http.post("/v1/sessions/talk/preview", headers=service.auth("acme"))
        assert response.status_code == 200, response.text
        assert await offsets.end_offsets(topics) == before
    shown = response.json()
    assert (shown["session"], shown["schema"]) == ("talk", "companion")
    (window,) = shown["windows"]
    assert [each["id"] for each in window["messages"]] == ["m1", "m2"]
    assert (window["extractor"], window["usage"], window["closed_by"]) == ("offline", [], "flush")
    assert any("Bergen" in each["content"] for each in window["events"])
    assert window["prompt_tokens"] > 0


async def test_a_preview_takes_another_schema(service: RunningService) -> None:
    await write_tail(service, "talk", opened=(raw("ann", 1, "I moved to Bergen last week."),))
    path, headers = "/v1/sessions/talk/preview", service.auth("acme")
    shown = (await service.http.post(path, json={"content": NOTES}, headers=headers)).json()
    assert (shown["schema"], {each["type"] for each in shown["windows"][0]["events"]} <= {"note"}) == ("notes", True)
    composed = (await service.http.post(path, json={"content": NOTES, "method": method_document("memgpt")}, headers=headers)).json()
    assert composed["schema"] == "notes+memgpt"
    assert "turn" in {each["type"] for each in composed["windows"][0]["events"]}
    wrong = await service.http.post(path, json={"content": {**NOTES, "EventTypes": [{}]}}, headers=headers)
    assert expect_problem(wrong, 422, "EventTypes[0]")["path"].startswith("EventTypes[0]")
    expect_problem(await service.http.post("/v1/sessions/none/preview", headers=headers), 404, "no recent messages")
    expect_problem(await service.http.post("/v1/sessions/talk/preview", headers=service.auth("umbrella")), 404, "no recent messages")
    bound = await service.http.post("/v1/sessions/talk/preview", headers=service.auth("acme/bob"))
    assert bound.status_code in (403, 404), "another user's messages are not shown"
