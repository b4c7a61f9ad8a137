"""Runs Python in the environment of the frameworks against a whole stack and the LLM simulator: ``make test-frameworks`` installs them."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from varve_client import AsyncVarveClient

from control.access_keys import hash_key, new_api_key
from loadtest.answers import ToolUse
from loadtest.llm_simulator import LLMSimulator
from loadtest.requests import ChatRequest
from runtime.settings import Settings
from tests.waiting import until_async
from varve.embedded.lifecycle import temporary_stack

ROOT: Final = Path(__file__).parents[2]
ENVIRONMENT: Final = os.environ.get("VARVE_TEST_FRAMEWORKS")
SCHEMA_OF_ITEMS: Final = ROOT / "integrations" / "varve_integrations" / "store_schema.json"


@dataclass(frozen=True, slots=True)
class FrameworkStack:
    """A running stack with an LLM, for programs that use the integrations."""

    url: str
    api_key: str
    llm: LLMSimulator
    memory: AsyncVarveClient
    store_key: str
    """A key of the tenant whose schema has items of a store."""
    bound_store_key: str
    """A key of that tenant for the user ``bound``."""

    async def run(self, *arguments: str, given: str = "", api_key: str | None = None) -> str:
        """Runs Python in the environment of the frameworks, and returns its output.

        Args:
            *arguments: The arguments of Python.
            given: Its standard input.
            api_key: The key of the program. Default: the developer's.
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
                "PYTHONPATH": os.pathsep.join((str(ROOT / "client"), str(ROOT / "integrations"), str(ROOT))),
                "VARVE_CLIENT__URL": self.url,
                "VARVE_CLIENT__API_KEY": api_key or self.api_key,
                "VARVE_TEST_STORE_KEY": self.store_key,
                "VARVE_TEST_STORE_BOUND_KEY": self.bound_store_key,
                "OPENAI_BASE_URL": self.llm.base_url,
                "OPENAI_API_KEY": "none",
                "CHAT_MODEL": "simulated",
                "LANGSMITH_TRACING": "false",
                "OPENAI_AGENTS_DISABLE_TRACING": "1",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            },
        )
        output, _ = await process.communicate(given.encode())
        assert process.returncode == 0, output.decode()
        return output.decode()

    async def run_suite(self, name: str) -> str:
        """Runs a file of tests of this folder with pytest in the environment of the frameworks, and returns the output.

        Args:
            name: The file.
        """
        settings = ("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")
        options = ("-c", os.devnull, *settings, "-p", "no:cacheprovider", "--noconftest", "--import-mode=importlib")
        return await self.run("-m", "pytest", "-q", *options, str(ROOT / "tests" / "integrations" / name))

    async def extracted(self, user: str, *texts: str, session: str) -> None:
        """Closes the window of a session, and waits until the user has memories with all the texts."""
        await self.memory.flush(session)
        await until_async(
            lambda: self.memory.memories(user=user, kinds=["event"]), lambda page: {*texts} <= {each.content for each in page.memories}
        )


def _answer(request: ChatRequest) -> str | ToolUse:
    role, text = request.messages[-1]
    tools = request.body.get("tools")
    if role == "user" and text.endswith("?") and tools:
        tool = tools[0]["function"]
        return ToolUse(tool["name"], {next(iter(tool["parameters"]["properties"])): text})
    return f"You said: {text.splitlines()[-1]}"


@asynccontextmanager
async def framework_stack(folder: Path) -> AsyncIterator[FrameworkStack]:
    """A running stack with an LLM that repeats the newest message, or asks its first tool if the message is a question.

    Args:
        folder: The data of the stack.
    """
    store_key, bound_store_key = new_api_key(), new_api_key()
    keys = [
        {"hash": hash_key(store_key), "label": "store", "scopes": ["ingest", "recall", "correct", "erase"]},
        {"hash": hash_key(bound_store_key), "label": "bound", "scopes": ["ingest", "recall"], "user": "bound"},
    ]
    tenants = [{"id": "items", "schema": str(SCHEMA_OF_ITEMS), "keys": keys}]
    Settings(data=folder).tenants_path.write_text(json.dumps({"tenants": tenants}))
    async with (
        LLMSimulator(answer=_answer) as llm,
        temporary_stack(folder) as running,
        AsyncVarveClient(running.file.service_url, api_key=running.file.api_key) as memory,
    ):
        yield FrameworkStack(running.file.service_url, running.file.api_key, llm, memory, store_key, bound_store_key)


def skip_without_frameworks() -> None:
    """Skips a test if the frameworks are not installed."""
    if ENVIRONMENT is None:
        pytest.skip("the frameworks are not installed: make test-frameworks")
