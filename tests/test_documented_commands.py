"""The README, the pages and the examples do what they say, all on one stack of ``varve dev``."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from openai import AsyncOpenAI
from varve_client import AsyncVarveClient, ServiceProblemError

from loadtest.answers import ToolUse
from loadtest.llm_simulator import LLMSimulator
from loadtest.requests import ChatRequest
from tests.page_commands import Step, Terminal, steps_of
from tests.varve.varve_process import VarveProcess, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

ROOT: Final = Path(__file__).parents[1]
EXAMPLES: Final = ROOT / "examples"
PAGES: Final = ("README.md", "docs/start/tutorial.md", "docs/start/missing.md", "docs/build/http-api.md")
PYTHON: Final = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS: Final = re.compile(r"(?:localhost|127\.0\.0\.1):8080")
PATIENCE_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class Stack:
    """A running stack of ``varve dev``."""

    data: Path
    url: str
    key: str
    bootstrap: str
    environment: dict[str, str]

    def client(self, key: str | None = None) -> AsyncVarveClient:
        return AsyncVarveClient(self.url, api_key=key or self.key)

    def run(self, *command: str | Path, given: str = "", **environment: str) -> str:
        """The output of a program that ends well."""
        done = subprocess.run(
            [str(word) for word in command],
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
            env={**self.environment, "VARVE_DATA": str(self.data), **environment},
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def varve(self, *words: str | Path, **environment: str) -> str:
        return self.run(sys.executable, "-m", "varve", *words, **environment)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """One stack for the module, with the example's operator installed wherever Varve runs."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(EXAMPLES / "operator_spread", folder / "source")
    install = [
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--python",
        sys.executable,
        "--target",
        str(folder / "operator"),
    ]
    subprocess.run([str(Path(sys.executable).parent / "uv"), *install, str(folder / "source")], check=True, timeout=200)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder / "operator")]),
        "COLUMNS": "200",
    }
    environment.pop("VARVE_DATA", None)
    data = folder / ".varve"
    with VarveProcess("dev", output=folder / "dev.log", environment={**environment, "VARVE_DATA": str(data)}) as dev:
        dev.wait_for_output("all parts are ready")
        stack_file = json.loads((data / "stack.json").read_text())
        yield Stack(
            data=data, url=stack_file["service_url"], key=stack_file["api_key"], bootstrap=stack_file["bootstrap"], environment=environment
        )
        dev.process.terminate()
        dev.process.wait(120)


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page_print_the_shown_output(page: str, stack: Stack, tmp_path: Path) -> None:
    (tmp_path / ".varve").symlink_to(stack.data)
    steps = steps_of(ROOT / page)
    assert any(each.documents or each.lines for each in steps)
    with Terminal(folder=tmp_path, environment={**stack.environment, "COLUMNS": "80"}) as terminal:
        for step in steps:
            outputs: list[str] = []
            shows = partial(prints, terminal, stack, step, outputs)
            wait_until(shows, seconds=PATIENCE_S, failure=partial(last_output, page, step, outputs))


def last_output(page: str, step: Step, outputs: list[str]) -> tuple[str, Step, list[str]]:
    return page, step, outputs[-1:]


def prints(terminal: Terminal, stack: Stack, step: Step, outputs: list[str]) -> bool:
    status, output = terminal.type(ADDRESS.sub(stack.url.removeprefix("http://"), step.command))
    outputs.append(output)
    return status == 0 and step.is_printed_by(output)


def test_the_python_page_prints_memories(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / ".varve").symlink_to(stack.data)
    (program,) = PYTHON.findall((ROOT / "docs" / "build" / "python-client.md").read_text())
    assert ADDRESS.search(program)
    program = ADDRESS.sub(stack.url.removeprefix("http://"), program)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path, env=stack.environment, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert "Bergen" in done.stdout
    assert "['m1']" in done.stdout


async def test_the_function_of_the_readme_answers_and_remembers(stack: Stack) -> None:
    (program,) = PYTHON.findall((ROOT / "README.md").read_text())
    names: dict[str, Any] = {}
    exec(compile(program, "README.md", "exec"), names)
    async with (
        LLMSimulator(answer=lambda _: "I am glad to hear it.") as model,
        stack.client() as memory,
        AsyncOpenAI(base_url=model.base_url, api_key="any") as llm,
    ):
        text = await names["answer"](memory, llm, "ida", "readme", "I play chess.")
    assert text == "I am glad to hear it."
    assert model.requests[0].prompt.endswith("I play chess.")
    assert await texts_of(stack, "readme") == ["I play chess.", "I am glad to hear it."]


async def test_the_chatbot_example_uses_earlier_statements(stack: Stack) -> None:
    async with LLMSimulator(answer=lambda _: "Noted.") as model:
        chat = partial(stack.run, sys.executable, EXAMPLES / "chatbot_openai.py", "kim", **environment_of(stack, model))
        assert await asyncio.to_thread(partial(chat, given="I moved to Lima last week, and my dog is called Rex.\n")) == "Noted.\n"
        await found(stack, "Where does Kim live?", user="kim")
        assert await asyncio.to_thread(partial(chat, given="Where do I live?\n")) == "Noted.\n"
    assert "Lima" in model.requests[-1].prompt


async def test_the_agent_example_learns_the_behaviour_of_tools(stack: Stack) -> None:
    turns: Iterator[str | ToolUse] = iter(
        [
            ToolUse("distance_from_oslo", {"city": "Atlantis"}),
            ToolUse("search_memory", {"query": "distances"}),
            ToolUse("distance_from_oslo", {"city": "Bergen"}),
            "It is 463 km.",
        ]
    )

    def answer(request: ChatRequest) -> str | ToolUse:
        return next(turns)

    added = await asyncio.to_thread(stack.varve, "tenants", "add", "agents", "--schema", "agent_tools")
    key = re.search(r"vk_\S+", added)
    assert key is not None, added
    async with LLMSimulator(answer=answer) as model:
        environment = environment_of(stack, model, key[0])
        words = (sys.executable, EXAMPLES / "agent_tools.py", "scout", "How far is Bergen from Oslo?")
        assert await asyncio.to_thread(partial(stack.run, *words, **environment)) == "It is 463 km.\n"
    assert "463 km" in model.requests[-1].prompt
    tool = await entity(stack, "tool_experience", "distance_from_oslo", calls=2, key=key[0])
    assert tool["failures"] == 1
    assert tool["frequent_errors"] == ["unknown city"]


def test_the_curl_script_sends_recalls_and_corrects(stack: Stack) -> None:
    for tool in ("curl", "jq"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    printed = stack.run(EXAMPLES / "curl.sh", "mia", VARVE_CLIENT__URL=stack.url, VARVE_CLIENT__API_KEY=stack.key)
    assert "moved to Bergen" in printed
    assert json.loads(printed.splitlines()[-1]).keys() == {"id", "memory_id", "outcome", "position", "remaining"}


async def test_the_kafka_producers_messages_are_read(stack: Stack) -> None:
    words = (sys.executable, EXAMPLES / "producers" / "aiokafka_producer.py", stack.bootstrap, "varve.messages", "dev", "tea-room")
    await asyncio.to_thread(stack.run, *words)
    assert await texts_of(stack, "tea-room", count=3) == ["I moved to Zürich.", "How do you like it?", "The lake is lovely."]


async def test_the_operator_of_the_example_computes_its_value(stack: Stack) -> None:
    folder = EXAMPLES / "operator_spread"
    await asyncio.to_thread(stack.varve, "schemas", "put", folder / "marks.json")
    added = await asyncio.to_thread(stack.varve, "tenants", "add", "school", "--schema", "marks")
    key = re.search(r"vk_\S+", added)
    assert key is not None, added
    await asyncio.to_thread(partial(stack.varve, "send", folder / "marks.jsonl", "--flush", VARVE_CLIENT__API_KEY=key[0]))
    course = await entity(stack, "course", "algebra", mean=8, key=key[0])
    assert course["spread"] == pytest.approx(3.27, abs=0.005)


def test_the_compose_file_adds_an_application_to_varves() -> None:
    path = EXAMPLES / "compose" / "compose.yaml"
    document = yaml.safe_load(path.read_text())
    (included,) = document["include"]
    services = yaml.safe_load((path.parent / included).read_text())["services"]
    app = document["services"]["app"]
    assert set(app["depends_on"]) <= services.keys()
    assert app["image"] == services["service"].get("image", "varve")
    assert (path.parent / app["volumes"][0].split(":")[0]).is_file()


def environment_of(stack: Stack, model: LLMSimulator, key: str | None = None) -> dict[str, str]:
    varve = {"VARVE_CLIENT__URL": stack.url, "VARVE_CLIENT__API_KEY": key or stack.key}
    return {**varve, "OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "any", "CHAT_MODEL": "simulated"}


async def found(stack: Stack, query: str, *, user: str) -> None:
    """Waits until a recall finds something."""
    async with asyncio.timeout(PATIENCE_S), stack.client() as memory:
        while True:
            answer = await memory.recall(query, user=user)
            if answer.results or answer.entities:
                return
            await asyncio.sleep(0.2)


async def texts_of(stack: Stack, session: str, *, count: int = 2) -> list[str]:
    """The messages of a session's tail, once there are so many."""
    async with asyncio.timeout(PATIENCE_S), stack.client() as memory:
        while True:
            found = (await memory.recall("anything", session=session)).session
            tail = [] if found is None else found.messages
            if len(tail) >= count:
                return [each["message"]["text"] for each in tail]
            await asyncio.sleep(0.2)


async def entity(stack: Stack, kind: str, name: str, *, key: str, **expected: Any) -> dict[str, Any]:
    """The properties of an entity, once it has those that are expected."""
    async with asyncio.timeout(PATIENCE_S), stack.client(key) as memory:
        while True:
            try:
                properties: dict[str, Any] = (await memory.entity(kind, [name])).properties
            except ServiceProblemError:
                properties = {}
            if expected.items() <= properties.items():
                return properties
            await asyncio.sleep(0.2)
