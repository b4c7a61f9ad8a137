"""The integrations in the frameworks themselves, and their examples, against a whole stack: ``make test-frameworks`` installs them."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.integrations.framework_stack import FrameworkStack, framework_stack, skip_without_frameworks

pytestmark = [pytest.mark.external, pytest.mark.timeout(600), pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FrameworkStack]:
    skip_without_frameworks()
    async with framework_stack(tmp_path_factory.mktemp("frameworks")) as running:
        yield running


async def test_the_openai_example_recalls_what_was_said(stack: FrameworkStack) -> None:
    told = "I have a cat called Pixel."
    assert await stack.run("examples/openai_chat.py", "olga", "monday", given=f"{told}\n") == f"You said: {told}\n"
    assert told in await stack.extracted("olga", 1, session="monday")
    await stack.run("examples/openai_chat.py", "olga", "tuesday", given="What is the cat called?\n")
    role, prompt = stack.llm.requests[-1].messages[-1]
    assert role == "user"
    assert told in prompt
    assert prompt.endswith("What is the cat called?")
