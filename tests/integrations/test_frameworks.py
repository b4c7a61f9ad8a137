"""The integrations in the frameworks themselves, and their examples, against a whole stack: ``make test-frameworks`` installs them."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.integrations.framework_stack import ROOT, FrameworkStack, framework_stack, skip_without_frameworks
from tests.waiting import until_async

pytestmark = [pytest.mark.external, pytest.mark.timeout(600), pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FrameworkStack]:
    skip_without_frameworks()
    async with framework_stack(tmp_path_factory.mktemp("frameworks")) as running:
        yield running


async def test_the_openai_example_recalls_the_conversation(stack: FrameworkStack) -> None:
    statement = "I have a cat called Pixel."
    assert await stack.run("examples/openai_chat.py", "olga", "monday", given=f"{statement}\n") == f"You said: {statement}\n"
    await stack.extracted("olga", statement, session="monday")
    await stack.run("examples/openai_chat.py", "olga", "tuesday", given="What is the cat called?\n")
    role, prompt = stack.llm.requests[-1].messages[-1]
    assert role == "user"
    assert statement in prompt
    assert prompt.endswith("What is the cat called?")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def rita(stack: FrameworkStack) -> None:
    """Memories of a user called Rita."""
    texts = ("I live in Bergen.", "I play the cello.", "My sister is called Ines.", "I have a cat called Pixel.")
    await stack.memory.send([{"user": "rita", "session": "about", "text": text} for text in texts])
    await stack.extracted("rita", *texts, session="about")


async def test_langchains_own_tests_of_retrievers_pass(stack: FrameworkStack, rita: None) -> None:
    assert "5 passed" in await stack.run_suite("retriever_suite.py")


async def test_the_store_agrees_with_the_in_memory_store(stack: FrameworkStack) -> None:
    assert " passed" in await stack.run_suite("store_suite.py")


async def test_langchain_history_and_documents(stack: FrameworkStack, rita: None) -> None:
    seen = json.loads((await stack.run(str(ROOT / "tests" / "integrations" / "langchain_session.py"))).splitlines()[-1])
    assert seen["at once"] == seen["by another"] == seen["said"]
    assert seen["later"] == [*(each[1] for each in seen["said"]), "Thanks."]
    assert seen["cleared"] == seen["cleared for others"] == []
    [[content, _, metadata]] = seen["documents"]
    assert content == "I play the cello."
    assert metadata["kind"] == "event"
    assert metadata["user"] == "rita"
    assert len(metadata["evidence"]) == 1


async def test_the_langchain_example_recalls_the_conversation(stack: FrameworkStack) -> None:
    statement = "I have a dog called Rex."
    output = await stack.run("examples/langchain_chat.py", "lars", "monday", given=f"{statement}\nHe is two.\n")
    assert output == f"You said: {statement}\nYou said: He is two.\n"
    # The session "monday" also has the messages of the user of the other example.
    roles = [role for role, _ in stack.llm.requests[-1].messages]
    assert roles == ["user", "assistant", "user"]
    await stack.extracted("lars", statement, session="monday")
    await stack.run("examples/langchain_chat.py", "lars", "tuesday", given="What is the dog called?\n")
    assert statement in stack.llm.requests[-1].messages[-1][1]


async def test_an_agents_session_keeps_its_items(stack: FrameworkStack) -> None:
    seen = json.loads((await stack.run(str(ROOT / "tests" / "integrations" / "openai_agents_session.py"))).splitlines()[-1])
    asked, answered = {"role": "user", "content": "How warm is it in Bergen?"}, {"role": "assistant", "content": "It is 9 degrees."}
    call = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Bergen"}'}
    result = {"type": "function_call_output", "call_id": "c1", "output": "9 degrees"}
    assert seen["is a session"] is True
    assert seen["empty"] == [[], None]
    assert seen["by another"] == [asked, call, result, answered]
    assert [each.get("type") for each in seen["at once"]] == [each.get("type") for each in seen["by another"]]
    assert seen["newest"] == [[answered], [answered]], "a result without its call is left out"
    assert seen["popped"] == [answered, result]
    assert seen["after pops"] == [asked], "a call without its result is left out"
    assert seen["cleared"] == seen["cleared for others"] == []


async def test_the_agents_example_recalls_the_conversation(stack: FrameworkStack) -> None:
    statement = "I have a parrot called Coco."
    output = await stack.run("examples/openai_agents_chat.py", "petra", "monday", given=f"{statement}\nShe is two.\n")
    assert output == f"You said: {statement}\nYou said: She is two.\n"
    assert [role for role, _ in stack.llm.requests[-1].messages] == ["system", "user", "assistant", "user"]
    await stack.extracted("petra", statement, session="monday")
    await stack.run("examples/openai_agents_chat.py", "petra", "tuesday", given="What is the parrot called?\n")
    role, found = stack.llm.requests[-1].messages[-1]
    assert role == "tool"
    assert statement in found


async def test_the_langgraph_example_recalls_the_conversation(stack: FrameworkStack) -> None:
    statement = "I have a hamster called Nut."
    given = {"given": f"{statement}\nHe is two.\n", "api_key": stack.store_key}
    assert await stack.run("examples/langgraph_chat.py", "lena", "monday", **given) == f"You said: {statement}\nYou said: He is two.\n"
    assert [role for role, _ in stack.llm.requests[-1].messages] == ["user", "assistant", "user"]
    await stack.run("examples/langgraph_chat.py", "lena", "tuesday", given="What is the hamster called?\n", api_key=stack.store_key)
    assert statement in stack.llm.requests[-1].messages[-1][1]


async def test_the_llama_index_block_remembers(stack: FrameworkStack) -> None:
    assert " passed" in await stack.run_suite("llama_index_suite.py")


async def test_the_llama_index_example_recalls_the_conversation(stack: FrameworkStack) -> None:
    statement = "I have a rabbit called Hops."
    output = await stack.run("examples/llama_index_chat.py", "lisa", "spring", given=f"{statement}\nShe is two.\n")
    assert output == f"You said: {statement}\nYou said: She is two.\n"
    await stack.extracted("lisa", statement, session="spring")
    await stack.run("examples/llama_index_chat.py", "lisa", "summer", given="What is the rabbit called?\n")
    role, prompt = stack.llm.requests[-1].messages[-1]
    assert role == "user"
    assert statement in prompt
    assert prompt.endswith("What is the rabbit called?")


async def test_the_adk_service_remembers(stack: FrameworkStack) -> None:
    assert " passed" in await stack.run_suite("google_adk_suite.py")


async def test_the_adk_example_recalls_the_conversation(stack: FrameworkStack) -> None:
    statement = "I have a pony called Max."
    output = await stack.run("examples/google_adk_chat.py", "gina", "monday", given=f"{statement}\nHe is two.\n")
    assert output == f"You said: {statement}\nYou said: He is two.\n"
    await until_async(
        lambda: stack.memory.memories(user="adk/companion/gina"), lambda page: statement in {each.content for each in page.memories}
    )
    await stack.run("examples/google_adk_chat.py", "gina", "tuesday", given="What is the pony called?\n")
    role, found = stack.llm.requests[-1].messages[-1]
    assert role == "tool"
    assert statement in found


async def test_the_pydantic_ai_toolset_remembers(stack: FrameworkStack) -> None:
    assert " passed" in await stack.run_suite("pydantic_ai_suite.py")


async def test_the_pydantic_ai_example_recalls_the_conversation(stack: FrameworkStack) -> None:
    statement = "I have a goldfish called Bubble."
    output = await stack.run("examples/pydantic_ai_chat.py", "paul", "autumn", given=f"{statement}\nShe is two.\n")
    assert output == f"You said: {statement}\nYou said: She is two.\n"
    await stack.extracted("paul", statement, session="autumn")
    await stack.run("examples/pydantic_ai_chat.py", "paul", "winter", given="What is the goldfish called?\n")
    role, found = stack.llm.requests[-1].messages[-1]
    assert role == "tool"
    assert statement in found
