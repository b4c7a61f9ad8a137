"""Tests of the memory block for LlamaIndex, run in an environment that has it."""

import os
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.memory import InsertMethod, Memory
from varve_client import AsyncVarveClient
from varve_integrations.llama_index import VarveMemoryBlock

from tests.waiting import until_async


@pytest.fixture
async def client() -> AsyncIterator[AsyncVarveClient]:
    async with AsyncVarveClient(os.environ["VARVE_CLIENT__URL"], api_key=os.environ["VARVE_CLIENT__API_KEY"]) as client:
        yield client


@pytest.fixture
def session() -> str:
    return f"session-{uuid4().hex}"


def block_of(client: AsyncVarveClient, **options: Any) -> VarveMemoryBlock:
    return VarveMemoryBlock(client=client, user=f"lena-{uuid4().hex}", **options)


async def stored(client: AsyncVarveClient, session: str, count: int) -> list[dict[str, Any]]:
    """The messages of a session, as soon as there are so many."""
    answer = await until_async(lambda: client.session(session), lambda answer: len(answer.messages) == count)
    return [each["message"] for each in answer.messages]


async def test_put_messages_are_recalled_in_another_session(client: AsyncVarveClient, session: str) -> None:
    block = block_of(client, accept_short_term_memory=False)
    time = "2026-03-02T12:00:00+00:00"
    said = ChatMessage(role="user", content="I have a cat called Pixel.", additional_kwargs={"event_time": time})
    replied = ChatMessage(role="assistant", content="Nice.", additional_kwargs={"event_time": time})
    await block.aput([said, replied], session_id=session)
    [first, _] = await stored(client, session, 2)
    assert first["event_time"].startswith("2026-03-02T12:00:00")
    await client.flush(session)
    await until_async(lambda: client.memories(user=block.user, kinds=["event"]), lambda page: bool(page.memories))
    memory = Memory.from_defaults(session_id="later", memory_blocks=[block], insert_method=InsertMethod.USER)
    await memory.aput(ChatMessage(role="user", content="What is the cat called?"))
    [prompt] = await memory.aget()
    assert prompt.role.value == "user"
    assert "I have a cat called Pixel." in (prompt.content or "")
    assert (prompt.content or "").endswith("What is the cat called?")


async def test_the_queue_gives_its_oldest_messages(client: AsyncVarveClient, session: str) -> None:
    block = block_of(client)
    memory = Memory.from_defaults(session_id=session, memory_blocks=[block], token_limit=60, token_flush_size=10)
    for number in range(8):
        await memory.aput(ChatMessage(role="user", content=f"I have read book number {number} this year."))
        await memory.aput(ChatMessage(role="assistant", content="How was it?"))
    kept = len(await memory.aget_all(status=None)) - len([each for each in await memory.aget_all() if each.role == "system"])
    assert kept > 0
    answer = await until_async(lambda: client.session(session), lambda answer: len(answer.messages) >= 2)
    assert answer.messages[0]["message"]["text"] == "I have read book number 0 this year."
    assert {each["message"]["user"] for each in answer.messages} == {block.user}


async def test_a_block_may_leave_the_queue_out(client: AsyncVarveClient, session: str) -> None:
    block = block_of(client, accept_short_term_memory=False)
    await block.aput([ChatMessage(role="user", content="I live in Bergen.")], from_short_term_memory=True, session_id=session)
    await block.aput([ChatMessage(role="user", content="I play the cello.")], session_id=session)
    assert [each["text"] for each in await stored(client, session, 1)] == ["I play the cello."]


async def test_tool_calls_and_results_are_kept(client: AsyncVarveClient, session: str) -> None:
    block = block_of(client)
    call = ToolCallBlock(tool_call_id="c1", tool_name="weather", tool_kwargs={"city": "Bergen"})
    messages = [
        ChatMessage(role="assistant", blocks=[call]),
        ChatMessage(role="tool", content="9 degrees", additional_kwargs={"tool_call_id": "c1"}),
        ChatMessage(role="assistant", content=""),
    ]
    await block.aput(messages, session_id=session)
    calling, result = await stored(client, session, 2)
    made = calling["tool_call"] or calling["tool_calls"][0]
    assert (made["id"], made["name"], made["arguments"]) == ("c1", "weather", {"city": "Bergen"})
    assert [(each["call_id"], each["content"]) for each in result["tool_results"]] == [("c1", "9 degrees")]


async def test_a_block_without_a_question_is_empty(client: AsyncVarveClient) -> None:
    block = block_of(client)
    assert await block.aget([]) == ""
    assert await block.aget([ChatMessage(role="assistant", content="Hello.")]) == ""


async def test_truncation_removes_the_last_lines(client: AsyncVarveClient) -> None:
    block = block_of(client)
    assert await block.atruncate("first line\nsecond line\nthird line", 3) == "first line\nsecond line"
    assert await block.atruncate("first line", 100) is None
