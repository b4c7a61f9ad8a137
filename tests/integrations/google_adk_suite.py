"""Tests of the memory service for Google's Agent Development Kit, run in an environment that has it."""

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai.types import Content, FunctionCall, FunctionResponse, Part
from varve_client import AsyncVarveClient
from varve_integrations.google_adk import VarveMemoryService, session_name, varve_user

from tests.waiting import until_async

APP = "app"
SAID_AT = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
async def client() -> AsyncIterator[AsyncVarveClient]:
    async with AsyncVarveClient(os.environ["VARVE_CLIENT__URL"], api_key=os.environ["VARVE_CLIENT__API_KEY"]) as client:
        yield client


@pytest.fixture
def service(client: AsyncVarveClient) -> VarveMemoryService:
    return VarveMemoryService(client)


@pytest.fixture
def user() -> str:
    return f"ada/{uuid4().hex}"


def event(author: str, *parts: Part, **fields: Any) -> Event:
    role = "user" if author == "user" else "model"
    return Event(author=author, content=Content(role=role, parts=[*parts]), timestamp=SAID_AT.timestamp(), **fields)


def said(author: str, text: str, **fields: Any) -> Event:
    return event(author, Part(text=text), **fields)


def texts(entries: list[MemoryEntry]) -> list[str]:
    return ["".join(part.text or "" for part in each.content.parts or ()) for each in entries]


async def found(service: VarveMemoryService, user: str, query: str, text: str) -> list[MemoryEntry]:
    """The memories of a search, as soon as one has a text."""

    async def search() -> list[MemoryEntry]:
        entries: list[MemoryEntry] = (await service.search_memory(app_name=APP, user_id=user, query=query)).memories
        return entries

    return await until_async(search, lambda entries: text in texts(entries))


def is_event(entry: MemoryEntry) -> bool:
    return bool(entry.custom_metadata["kind"] == "event")


async def test_a_session_becomes_memories_once(service: VarveMemoryService, client: AsyncVarveClient, user: str) -> None:
    first = said("user", "I have a cat called Pixel.", id="e1")
    session = Session(id="s", app_name=APP, user_id=user, events=[first, said("companion", "How old is Pixel?", id="e2")])
    await service.add_session_to_memory(session)
    [entry] = [
        each for each in await found(service, user, "What is the cat called?", "I have a cat called Pixel.") if "Pixel." in str(each)
    ]
    assert entry.custom_metadata["evidence"] == ["e1"]
    assert entry.timestamp == SAID_AT.isoformat()
    session.events.append(said("user", "Pixel is two years old.", id="e3"))
    await service.add_session_to_memory(session)
    await found(service, user, "How old is the cat?", "Pixel is two years old.")
    page = await client.memories(user=varve_user(APP, user), kinds=["event"])
    assert sorted(each.content for each in page.memories if each.speaker is None or "companion" not in each.speaker) == [
        "I have a cat called Pixel.",
        "Pixel is two years old.",
    ]

    async def shown() -> list[str]:
        return [each["message"]["id"] for each in (await client.session(session_name(APP, user, "s"))).messages]

    # The latest closed window has only what was sent last. The service may show its message first next to those of the window before.
    await until_async(shown, lambda ids: ids == ["e3"])


async def test_calls_are_stored_and_recalls_are_not(service: VarveMemoryService, client: AsyncVarveClient, user: str) -> None:
    calls = [Part(function_call=FunctionCall(id=f"c-{name}", name=name, args={"q": 1})) for name in ("weather", "load_memory")]
    results = [
        Part(function_response=FunctionResponse(id=f"c-{name}", name=name, response={"result": "9 degrees"}))
        for name in ("weather", "load_memory")
    ]
    events = [
        event("companion", Part(text="thinking", thought=True), *calls, id="e1"),
        event("user", *results, id="e2"),
        said("companion", "half an ans", id="e3", partial=True),
        Event(author="companion", id="e4"),
    ]
    await service.add_events_to_memory(app_name=APP, user_id=user, session_id="s", events=events, custom_metadata={"source": "test"})
    session = session_name(APP, user, "s")
    shown = (await until_async(lambda: client.session(session), lambda answer: len(answer.messages) == 2)).messages
    call, result = (each["message"] for each in shown)
    assert [(each["id"], each["name"]) for each in call["tool_calls"]] == [("c-weather", "weather")]
    assert (call["role"], call["speaker"], call["text"], call["metadata"]) == ("assistant", "companion", "", {"source": "test"})
    assert [(each["call_id"], each["content"]) for each in result["tool_results"]] == [("c-weather", {"result": "9 degrees"})]


async def test_applications_and_users_are_separated(service: VarveMemoryService, user: str) -> None:
    entry = MemoryEntry(content=Content(role="user", parts=[Part(text="I play the cello.")]), timestamp=SAID_AT.isoformat())
    await service.add_memory(app_name=APP, user_id=user, memories=[entry])
    await found(service, user, "Which instrument?", "I play the cello.")
    for app_name, user_id in (("other", user), (APP, f"{user}2"), (f"{APP}/{user}", "")):
        assert (await service.search_memory(app_name=app_name, user_id=user_id, query="Which instrument?")).memories == []


async def test_only_the_own_memory_is_deleted(service: VarveMemoryService, user: str) -> None:
    entry = MemoryEntry(content=Content(role="user", parts=[Part(text="I play the flute.")]))
    await service.add_memory(app_name=APP, user_id=user, memories=[entry])
    [memory] = [each for each in await found(service, user, "Which instrument?", "I play the flute.") if is_event(each)]
    await service.delete_memory(app_name="other", user_id=user, memory_id=memory.id)
    await service.delete_memory(app_name=APP, user_id=user, memory_id="6b1f0f5e-7c1a-5d0e-9a57-2f6d1c0b8e42")
    await service.delete_memory(app_name=APP, user_id=user, memory_id=None)
    kept = (await service.search_memory(app_name=APP, user_id=user, query="Which instrument?")).memories
    assert texts([each for each in kept if is_event(each)]) == ["I play the flute."]
    await service.delete_memory(app_name=APP, user_id=user, memory_id=memory.id)
    await until_async(
        lambda: service.search_memory(app_name=APP, user_id=user, query="Which instrument?"), lambda answer: answer.memories == []
    )


async def test_an_empty_query_finds_nothing(service: VarveMemoryService, user: str) -> None:
    assert (await service.search_memory(app_name=APP, user_id=user, query=" ")).memories == []


async def test_an_entry_without_a_text_is_refused(service: VarveMemoryService, user: str) -> None:
    with pytest.raises(ValueError, match="no text"):
        await service.add_memory(app_name=APP, user_id=user, memories=[MemoryEntry(content=Content(role="user", parts=[]))])


async def test_memories_can_be_shared_between_applications(client: AsyncVarveClient, user: str) -> None:
    sharing = VarveMemoryService(client, user_of=lambda app_name, user_id: user_id)
    entry = MemoryEntry(content=Content(role="user", parts=[Part(text="I play the oboe.")]), author="coach")
    await sharing.add_memory(app_name="another", user_id=user, memories=[entry])
    [memory] = await found(sharing, user, "Which instrument?", "I play the oboe.")
    assert memory.author == "coach"


def test_long_names_fit() -> None:
    assert len(session_name("a" * 200, "b" * 200, "c")) <= 256
    assert "ann" not in session_name("a", "ann", "s")
    assert session_name("a/b", "c", "d") != session_name("a", "b/c", "d")
