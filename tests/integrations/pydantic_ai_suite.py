"""Tests of the toolset for Pydantic AI, run in an environment that has it."""

import os
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import uuid4

import pytest
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from varve_client import AsyncVarveClient
from varve_integrations.pydantic_ai import VarveToolset

from tests.waiting import until_async


@pytest.fixture
async def client() -> AsyncIterator[AsyncVarveClient]:
    async with AsyncVarveClient(os.environ["VARVE_CLIENT__URL"], api_key=os.environ["VARVE_CLIENT__API_KEY"]) as client:
        yield client


@pytest.fixture
def user() -> str:
    return f"petra-{uuid4().hex}"


def calling(name: str, **arguments: Any) -> Callable[[list[ModelMessage], AgentInfo], ModelResponse]:
    """A model that calls one tool, and then answers."""

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        returned = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        if returned:
            return ModelResponse([TextPart("Done.")])
        return ModelResponse([ToolCallPart(name, arguments, tool_call_id="call-1")])

    return model


def returned(messages: list[ModelMessage]) -> Any:
    [part] = [part for each in messages for part in each.parts if isinstance(part, ToolReturnPart)]
    return part.content


async def remembered(client: AsyncVarveClient, user: str, session: str) -> list[str]:
    await client.flush(session)
    page = await until_async(lambda: client.memories(user=user, kinds=["event"]), lambda page: bool(page.memories))
    return [each.content for each in page.memories]


async def test_messages_of_a_run_are_recalled_later(client: AsyncVarveClient, user: str) -> None:
    toolset = VarveToolset(client, user=lambda run: run.deps)
    agent = Agent(FunctionModel(calling("recall_memory", query="What is the cat called?")), deps_type=str, toolsets=[toolset])
    first = await agent.run("I have a cat called Pixel.", deps=user)
    assert returned(first.new_messages()) == []
    session = uuid4().hex
    await toolset.remember_messages(first.new_messages(), user=user, session=session)
    shown = await until_async(lambda: client.session(session), lambda answer: len(answer.messages) == 2)
    assert [(each["message"]["role"], each["message"]["text"]) for each in shown.messages] == [
        ("user", "I have a cat called Pixel."),
        ("assistant", "Done."),
    ]
    await client.flush(session)
    await until_async(
        lambda: client.memories(user=user, kinds=["event"]),
        lambda page: "I have a cat called Pixel." in {each.content for each in page.memories},
    )
    second = await agent.run("What is the cat called?", deps=user)
    found = returned(second.new_messages())
    assert "I have a cat called Pixel." in {each["content"] for each in found}
    assert all(each["evidence"] for each in found)
    other = await agent.run("What is the cat called?", deps=f"{user}2")
    assert returned(other.new_messages()) == []


async def test_own_tools_of_an_agent_are_remembered(client: AsyncVarveClient, user: str) -> None:
    toolset = VarveToolset(client, user=user)

    def weather(city: str) -> str:
        return f"9 degrees in {city}"

    agent = Agent(FunctionModel(calling("weather", city="Bergen")), toolsets=[toolset], tools=[weather])
    result = await agent.run(["How warm is it?", "In Bergen."])
    session = uuid4().hex
    await toolset.remember_messages(result.new_messages(), user=user, session=session)
    answer = await until_async(lambda: client.session(session), lambda answer: len(answer.messages) == 4)
    asked, call, given, done = (each["message"] for each in answer.messages)
    assert asked["text"] == "How warm is it?\nIn Bergen."
    made = call["tool_call"] or call["tool_calls"][0]
    assert (made["name"], made["arguments"]) == ("weather", {"city": "Bergen"})
    assert [each["content"] for each in given["tool_results"]] == ["9 degrees in Bergen"]
    assert done["text"] == "Done."


async def test_an_agent_remembers_the_conversation(client: AsyncVarveClient, user: str) -> None:
    session = uuid4().hex
    toolset = VarveToolset(client, user=user, session=session, tools=["remember"])
    await Agent(FunctionModel(calling("remember", text="I play the cello.")), toolsets=[toolset]).run("Remember that.")
    assert await remembered(client, user, session) == ["I play the cello."]


async def test_a_person_approves_a_deletion(client: AsyncVarveClient, user: str) -> None:
    session = uuid4().hex
    await client.send([{"user": user, "session": session, "text": "I play the flute."}])
    await remembered(client, user, session)
    [memory] = (await client.memories(user=user, kinds=["event"])).memories
    toolset = VarveToolset(client, user=user, tools=["forget_memory"])
    agent = Agent(FunctionModel(calling("forget_memory", memory_id=memory.id)), toolsets=[toolset], output_type=[str, DeferredToolRequests])
    asked = await agent.run("Forget that.")
    assert isinstance(asked.output, DeferredToolRequests)
    assert (await client.memory(memory.id)).content == "I play the flute."
    approved = DeferredToolResults(approvals={"call-1": True})
    await agent.run(message_history=asked.all_messages(), deferred_tool_results=approved)
    await until_async(lambda: client.memories(user=user, kinds=["event"]), lambda page: not page.memories)


async def test_memories_of_others_cannot_be_deleted(client: AsyncVarveClient, user: str) -> None:
    session = uuid4().hex
    await client.send([{"user": f"{user}2", "session": session, "text": "I play the harp."}])
    await remembered(client, f"{user}2", session)
    [memory] = (await client.memories(user=f"{user}2", kinds=["event"])).memories
    toolset = VarveToolset(client, user=user, tools=["forget_memory"])
    agent = Agent(FunctionModel(calling("forget_memory", memory_id=memory.id)), toolsets=[toolset], output_type=[str, DeferredToolRequests])
    asked = await agent.run("Forget that.")
    approved = DeferredToolResults(approvals={"call-1": True})
    refused = await agent.run(message_history=asked.all_messages(), deferred_tool_results=approved)
    assert f"there is no memory {memory.id}" in str(refused.new_messages())
    assert (await client.memory(memory.id)).content == "I play the harp."


def test_unknown_tools_are_refused() -> None:
    client = AsyncVarveClient("http://127.0.0.1:9", api_key="k")
    with pytest.raises(ValueError, match="recall_memory, remember, forget_memory"):
        VarveToolset(client, user="petra", tools=["erase"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="tools"):
        VarveToolset(client, user="petra", tools=[])
