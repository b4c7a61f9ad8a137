"""Runs Python in the environment of the frameworks against a whole stack and the LLM simulator: ``make test-frameworks`` installs them."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from varve_client import AsyncVarveClient

from loadtest.answers import ToolUse
from loadtest.llm_simulator import LLMSimulator
from loadtest.requests import ChatRequest
from runtime.settings import Settings
from varve.embedded.lifecycle import running_stack
from varve.embedded.stack import EmbeddedStack
from varve.embedded.tenants import DeveloperTenant
from varve.supervisor.supervisor import Supervisor

ROOT: Final = Path(__file__).parents[2]
ENVIRONMENT: Final = os.environ.get("VARVE_TEST_FRAMEWORKS")
DEADLINE_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class FrameworkStack:
    """A running stack with an LLM, for programs that use the integrations."""

    url: str
    api_key: str
    llm: LLMSimulator
    memory: AsyncVarveClient

    async def run(self, *arguments: str, given: str = "") -> str:
        """Runs Python in the environment of the frameworks, and returns its output.

        Args:
            *arguments: The arguments of Python.
            given: Its standard input.
        """
        assert ENVIRONMENT is not None
        process = await asyncio.create_subprocess_exec(
            str(Path(ENVIRONMENT) / "bin" / "python"),
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=ROOT / "integrations",
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join((str(ROOT / "client"), str(ROOT / "integrations"))),
                "VARVE_CLIENT__URL": self.url,
                "VARVE_CLIENT__API_KEY": self.api_key,
                "OPENAI_BASE_URL": self.llm.base_url,
                "OPENAI_API_KEY": "none",
                "CHAT_MODEL": "simulated",
                "LANGSMITH_TRACING": "false",
                "OPENAI_AGENTS_DISABLE_TRACING": "1",
            },
        )
        output, _ = await process.communicate(given.encode())
        assert process.returncode == 0, output.decode()
        return output.decode()

    async def extracted(self, user: str, count: int, *, session: str) -> list[str]:
        """Closes the window of a session, and waits until the user has that many memories. Returns their texts."""
        await self.memory.flush(session)
        async with asyncio.timeout(DEADLINE_S):
            while True:
                page = await self.memory.memories(user=user, kinds=["event"])
                if len(page.memories) >= count:
                    return [each.content for each in page.memories]
                await asyncio.sleep(0.2)


def _answer(request: ChatRequest) -> str | ToolUse:
    role, text = request.messages[-1]
    if role == "user" and text.endswith("?") and request.body.get("tools"):
        return ToolUse("recall", {"question": text})
    return f"You said: {text.splitlines()[-1]}"


@asynccontextmanager
async def framework_stack(folder: Path) -> AsyncIterator[FrameworkStack]:
    """A running stack with an LLM that repeats the newest message, or asks the tool ``recall`` if it has one and the message is a question.

    Args:
        folder: The data of the stack.
    """
    stack = EmbeddedStack(settings=Settings(data=folder), throwaway=True, tenant=DeveloperTenant("dev", "companion"))
    async with (
        LLMSimulator(answer=_answer) as llm,
        running_stack(stack, Supervisor(stack.levels(), notice=lambda _: None)) as running,
        AsyncVarveClient(running.file.service_url, api_key=running.file.api_key) as memory,
    ):
        yield FrameworkStack(running.file.service_url, running.file.api_key, llm, memory)


def skip_without_frameworks() -> None:
    """Skips a test if the frameworks are not installed."""
    if ENVIRONMENT is None:
        pytest.skip("the frameworks are not installed: make test-frameworks")
