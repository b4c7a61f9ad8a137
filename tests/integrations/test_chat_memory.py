"""The wrapper of OpenAI's client against the LLM simulator and an HTTP server in place of the service, whose failures the tests decide."""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web
from openai import AsyncOpenAI, OpenAI
from varve_integrations.conversation import new_messages, question_of, with_context
from varve_integrations.openai import ChatMemory

from loadtest.llm_simulator import LLMSimulator

CONTEXT = "Notes: the cat is called Pixel."
ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is the cat called?"}]


class Service:
    """An HTTP server with the two routes that the wrapper calls."""

    def __init__(self) -> None:
        self.recalls: list[dict[str, Any]] = []
        self.turns: list[list[dict[str, Any]]] = []
        self.answers_recalls = asyncio.Event()
        self.answers_recalls.set()
        self.takes_messages = asyncio.Event()
        self.takes_messages.set()
        self.refusals: list[int] = []
        """Status of each next response to messages, before they are accepted."""
        self.url = ""

    async def context(self, request: web.Request) -> web.Response:
        self.recalls.append(await request.json())
        await self.answers_recalls.wait()
        return web.json_response({"context": CONTEXT})

    async def messages(self, request: web.Request) -> web.Response:
        turn = await request.json()
        await self.takes_messages.wait()
        if self.refusals:
            return web.json_response({"detail": "not now"}, status=self.refusals.pop(0))
        self.turns.append(turn)
        position = {"topic": "messages", "partition": 0, "offset": 1}
        return web.json_response(
            {"items": [{"index": i, "status": 200, "id": each["id"], "position": position} for i, each in enumerate(turn)]}
        )

    def said(self) -> list[tuple[str, str]]:
        return [(each["role"], each["content"]) for turn in self.turns for each in turn]


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    service = Service()
    app = web.Application()
    app.add_routes([web.post("/v1/context", service.context), web.post("/v1/messages", service.messages)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    service.url = f"http://{host}:{port}"
    yield service
    service.answers_recalls.set()
    service.takes_messages.set()
    await runner.cleanup()


@pytest.fixture
async def llm() -> AsyncIterator[LLMSimulator]:
    async with LLMSimulator(answer=lambda request: "It is called Pixel.") as simulator:
        yield simulator


def complete(memory: ChatMemory, llm: LLMSimulator, **options: Any) -> Callable[[], Any]:
    """A chat completion of the synchronous client, to be run in a thread."""
    client = memory.wrap(OpenAI(base_url=llm.base_url, api_key="x", max_retries=0), user="ann", session="monday")
    return lambda: client.chat.completions.create(**{"model": "simulated", "messages": ASKED, **options})


def memory_of(service: Service, **options: Any) -> ChatMemory:
    return ChatMemory(service.url, api_key="k", **{"recall_timeout_s": 5.0, **options})


async def test_recalls_before_and_remembers_after(service: Service, llm: LLMSimulator) -> None:
    memory = memory_of(service, context_tokens=300)
    reply = await asyncio.to_thread(complete(memory, llm))
    await asyncio.to_thread(memory.close)
    assert reply.choices[0].message.content == "It is called Pixel."
    assert service.recalls == [{"query": "What is the cat called?", "user": "ann", "tokens": 300}]
    assert llm.requests[0].messages == (("system", "Be brief."), ("user", f"{CONTEXT}\n\nWhat is the cat called?"))
    assert service.said() == [("user", "What is the cat called?"), ("assistant", "It is called Pixel.")]
    assert {(each["user"], each["session"]) for each in service.turns[0]} == {("ann", "monday")}
    assert memory.lost == 0


async def test_the_asynchronous_client_gives_equal_results(service: Service, llm: LLMSimulator) -> None:
    with memory_of(service) as memory:
        async with AsyncOpenAI(base_url=llm.base_url, api_key="x") as plain:
            client = memory.wrap(plain, user="ann", session="monday")
            await client.chat.completions.create(model="simulated", messages=ASKED)  # type: ignore[arg-type]
        await asyncio.to_thread(memory.close)
    assert llm.requests[0].messages[1][1].startswith(CONTEXT)
    assert service.said()[1] == ("assistant", "It is called Pixel.")


@pytest.mark.parametrize("ends", ["read to the end", "left early"])
async def test_a_streamed_reply_is_remembered(service: Service, llm: LLMSimulator, ends: str) -> None:
    memory = memory_of(service)
    begin = complete(memory, llm, stream=True)

    def read() -> str:
        text = ""
        with begin() as stream:
            for chunk in stream:
                text += chunk.choices[0].delta.content or "" if chunk.choices else ""
                if ends == "left early" and text:
                    break
        return text

    text = await asyncio.to_thread(read)
    await asyncio.to_thread(memory.close)
    assert service.said()[1] == ("assistant", text)
    assert (text == "It is called Pixel.") == (ends == "read to the end")


async def test_an_asynchronous_stream_is_remembered(service: Service, llm: LLMSimulator) -> None:
    memory = memory_of(service)
    async with AsyncOpenAI(base_url=llm.base_url, api_key="x") as plain:
        client = memory.wrap(plain, user="ann", session="monday")
        messages: list[Any] = ASKED
        async for _ in await client.chat.completions.create(model="simulated", messages=messages, stream=True):
            pass
    await asyncio.to_thread(memory.close)
    assert service.said()[1] == ("assistant", "It is called Pixel.")


async def test_helpers_for_parsing_and_streaming_remember_too(service: Service, llm: LLMSimulator) -> None:
    memory = memory_of(service)
    completions = memory.wrap(OpenAI(base_url=llm.base_url, api_key="x"), user="ann", session="monday").chat.completions
    messages: list[Any] = ASKED

    def read() -> None:
        completions.parse(model="simulated", messages=messages)
        with completions.stream(model="simulated", messages=messages) as stream:
            stream.until_done()

    await asyncio.to_thread(read)
    await asyncio.to_thread(memory.close)
    assert all(CONTEXT in request.messages[1][1] for request in llm.requests)
    assert [turn[1]["content"] for turn in service.turns] == ["It is called Pixel."] * 2


async def test_a_raw_response_remembers_the_question_only(service: Service, llm: LLMSimulator) -> None:
    memory = memory_of(service)
    completions = memory.wrap(OpenAI(base_url=llm.base_url, api_key="x"), user="ann", session="monday").chat.completions
    messages: list[Any] = ASKED
    raw = await asyncio.to_thread(lambda: completions.with_raw_response.create(model="simulated", messages=messages))
    await asyncio.to_thread(memory.close)
    assert raw.parse().choices[0].message.content == "It is called Pixel."
    assert CONTEXT in llm.requests[0].messages[1][1]
    assert service.said() == [("user", "What is the cat called?")]


async def test_a_slow_recall_gives_the_plain_call(service: Service, llm: LLMSimulator) -> None:
    service.answers_recalls.clear()
    memory = memory_of(service, recall_timeout_s=0.2)
    started = time.monotonic()
    await asyncio.to_thread(complete(memory, llm))
    assert time.monotonic() - started < 10
    assert llm.requests[0].messages[1] == ("user", "What is the cat called?")
    await asyncio.to_thread(memory.close)
    assert len(service.said()) == 2


async def test_hung_recalls_hold_up_no_call(service: Service, llm: LLMSimulator) -> None:
    service.answers_recalls.clear()
    memory = memory_of(service, recall_timeout_s=2.0)
    async with AsyncOpenAI(base_url=llm.base_url, api_key="x") as plain:
        client = memory.wrap(plain, user="ann", session="monday")
        calls = (client.chat.completions.create(model="simulated", messages=ASKED) for _ in range(50))  # type: ignore[arg-type]
        async with asyncio.timeout(60):
            await asyncio.gather(*calls)
    assert len(llm.requests) == 50
    assert len(service.recalls) <= 32
    await asyncio.to_thread(memory.close)


async def test_an_unreachable_service_fails_no_call(llm: LLMSimulator) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        memory = ChatMemory(f"http://127.0.0.1:{listener.getsockname()[1]}", api_key="k")
        reply = await asyncio.to_thread(complete(memory, llm))
        await asyncio.to_thread(memory.close, 0.1)
    assert reply.choices[0].message.content == "It is called Pixel."
    assert memory.lost == 1


async def test_remembering_never_waits_for_the_service(service: Service, llm: LLMSimulator) -> None:
    service.takes_messages.clear()
    memory = memory_of(service, queue_size=2)
    for _ in range(4):
        await asyncio.to_thread(complete(memory, llm))
    assert memory.lost == 2
    service.takes_messages.set()
    await asyncio.to_thread(memory.close)
    assert len(service.turns) == 2


async def test_a_temporary_refusal_is_repeated_in_order(service: Service, llm: LLMSimulator) -> None:
    service.refusals = [503, 429, 500]
    memory = memory_of(service)
    for question in ("one", "two"):
        await asyncio.to_thread(complete(memory, llm, messages=[{"role": "user", "content": question}]))
    await asyncio.to_thread(memory.close, 60)
    assert [turn[0]["content"] for turn in service.turns] == ["one", "two"]
    assert memory.lost == 0


async def test_a_final_refusal_loses_one_turn(service: Service, llm: LLMSimulator, caplog: pytest.LogCaptureFixture) -> None:
    service.refusals = [422]
    memory = memory_of(service)
    for question in ("one", "two"):
        await asyncio.to_thread(complete(memory, llm, messages=[{"role": "user", "content": question}]))
    await asyncio.to_thread(memory.close)
    assert [turn[0]["content"] for turn in service.turns] == ["two"]
    assert memory.lost == 1
    assert "not now" in caplog.text


FORKED = """
import os, sys
from openai import OpenAI
from varve_integrations.openai import ChatMemory

memory = ChatMemory(sys.argv[1], api_key="k", recall_timeout_s=10)

def ask(question):
    with OpenAI(base_url=sys.argv[2], api_key="x", max_retries=0) as llm:
        completions = memory.wrap(llm, user="ann", session="monday").chat.completions
        completions.create(model="simulated", messages=[{"role": "user", "content": question}])

ask("before")
child = os.fork()
if child == 0:
    ask("in the child")
    memory.close()
    os._exit(memory.lost)
_, status = os.waitpid(child, 0)
ask("after")
memory.close()
sys.exit(memory.lost + os.waitstatus_to_exitcode(status))
"""


async def test_a_forked_process_remembers_too(service: Service, llm: LLMSimulator) -> None:
    """Like a worker of a server that loads the application before it forks."""
    # From Python 3.12 on, a fork next to threads is a warning.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED, service.url, llm.base_url]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    questions = ["before", "in the child", "after"]
    assert [text for role, text in service.said() if role == "user"] == questions
    assert [each["query"] for each in service.recalls] == questions


async def test_a_failed_call_is_not_remembered(service: Service) -> None:
    async with LLMSimulator(answer=lambda request: "x") as llm:
        memory = memory_of(service)
        call = complete(memory, llm)
    with pytest.raises(Exception, match="Connection error"):
        await asyncio.to_thread(call)
    await asyncio.to_thread(memory.close)
    assert service.turns == []


async def test_the_original_client_stays_plain(service: Service, llm: LLMSimulator) -> None:
    memory = memory_of(service)
    plain = OpenAI(base_url=llm.base_url, api_key="x")
    memory.wrap(plain, user="ann", session="monday")
    await asyncio.to_thread(lambda: plain.chat.completions.create(model="simulated", messages=ASKED))  # type: ignore[arg-type]
    await asyncio.to_thread(memory.close)
    assert (service.recalls, service.turns) == ([], [])


@pytest.mark.parametrize("content", [[{"type": "text"}], [{"type": "text", "text": None}], ["Hello"]])
async def test_malformed_messages_reach_the_llm_unchanged(service: Service, llm: LLMSimulator, content: Any) -> None:
    memory = memory_of(service)
    messages = [{"role": "user", "content": content}]
    await asyncio.to_thread(complete(memory, llm, messages=messages))
    await asyncio.to_thread(memory.close)
    assert llm.requests[0].body["messages"] == messages


def test_a_closed_memory_still_lets_calls_through() -> None:
    memory = ChatMemory("http://127.0.0.1:9", api_key="k")
    memory.close()
    client = memory.wrap(OpenAI(base_url="http://127.0.0.1:9", api_key="x", max_retries=0), user="ann", session="monday")
    with pytest.raises(Exception, match="Connection error"):
        client.chat.completions.create(model="simulated", messages=ASKED)  # type: ignore[arg-type]


def test_a_tool_result_is_no_new_question() -> None:
    calling = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    messages = [*ASKED, calling, {"role": "tool", "tool_call_id": "1", "content": "Pixel"}]
    assert new_messages(messages, "It is Pixel.") == [{"role": "assistant", "content": "It is Pixel."}]
    assert new_messages(ASKED, "") == [ASKED[1]]


def test_only_messages_after_the_last_reply_are_new() -> None:
    later = [{"role": "user", "content": "And"}, {"role": "user", "content": "the dog?", "name": "Ann"}]
    messages = [*ASKED, {"role": "assistant", "content": "Pixel."}, *later, {"role": "system", "content": "Be kind."}]
    assert new_messages(messages, "Rex.") == [*later, {"role": "assistant", "content": "Rex."}]


def test_context_precedes_the_parts_of_a_message() -> None:
    parts = [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "Who is this?"}]
    messages = [{"role": "user", "content": parts}]
    assert question_of(messages) == "Who is this?"
    assert with_context(messages, "Notes.")[0]["content"] == [{"type": "text", "text": "Notes."}, *parts]
    assert with_context(messages, "") == messages
    assert parts == messages[0]["content"]
