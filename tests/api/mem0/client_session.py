"""A session with mem0's own client, run in an environment that has the package. Prints one JSON object: the result of each call.

Usage: ``python client_session.py HOST API_KEY``.
"""

import asyncio
import contextlib
import json
import os
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

os.environ["MEM0_TELEMETRY"] = "False"

import httpx
from mem0 import AsyncMemoryClient, MemoryClient

from tests.waiting import until

PAGE: Final = Path(__file__).parents[3] / "docs" / "build" / "mem0.md"
PROGRAM: Final = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def failure(call: Callable[[], Any]) -> str:
    try:
        return f"no error: {call()}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def session(host: str, key: str) -> dict[str, Any]:
    client = MemoryClient(api_key=key, host=host)
    seen: dict[str, Any] = {}
    said = [
        {"role": "user", "content": "I moved to Bergen in March 2024."},
        {"role": "assistant", "content": "How do you like it?"},
        {"role": "user", "content": "I have a cat called Pixel."},
    ]
    seen["add"] = client.add(said, user_id="ann")
    client.add("I play the cello on Sundays.", user_id="bob", agent_id="coach", metadata={"source": "app"})
    unchanged = [{"role": "user", "content": "ok"}, {"role": "assistant", "content": "What  time\nis it?"}]
    client.add(unchanged, user_id="dora", infer=False)
    of_coach = {"AND": [{"user_id": "bob"}, {"agent_id": "coach"}]}
    seen["listed"] = until(lambda: client.get_all(filters={"user_id": "ann"}), lambda page: page["count"] >= 2)
    seen["bob"] = until(lambda: client.get_all(filters=of_coach), lambda page: page["count"] >= 1)
    seen["unchanged"] = until(lambda: client.get_all(filters={"user_id": "dora"}), lambda page: page["count"] >= 2)
    seen["searched"] = client.search("What is the cat called?", filters={"user_id": "ann"}, top_k=3)
    memory_id = seen["searched"]["results"][0]["id"]
    seen["got"] = client.get(memory_id)
    seen["updated"] = client.update(memory_id, text="I have a cat called Pixie.")
    seen["after update"] = client.get(memory_id)
    seen["history"] = client.history(memory_id)
    seen["users"] = client.users()
    seen["exported"] = exported(host, key)
    seen["unknown filter"] = failure(lambda: client.get_all(filters={"colour": "red"}))
    seen["no id"] = [failure(partial(call, "m-1")) for call in (client.get, client.history, client.delete)]
    seen["no id in a batch"] = failure(lambda: client.batch_delete([{"memory_id": "m-1"}]))
    seen["unknown memory"] = failure(lambda: client.get("00000000-0000-0000-0000-000000000000"))
    seen["no owner"] = failure(lambda: client.add("Hello there, I live in Rome."))
    seen["delete all without filter"] = failure(lambda: client.delete_all())
    seen["unsupported"] = failure(lambda: client.get_summary(filters={"user_id": "ann"}))
    seen["project"] = client.project.get(fields=["custom_instructions"])
    seen["unknown field of the project"] = failure(lambda: client.project.get(fields=["colour"]))
    seen["update of the project"] = failure(lambda: client.project.update(custom_instructions="Remember colours."))
    seen["deleted"] = client.delete(memory_id)
    seen["got after delete"] = failure(lambda: client.get(memory_id))
    seen["after delete"] = client.get_all(filters={"user_id": "ann"})
    seen["batch"] = client.batch_update([{"memory_id": seen["bob"]["results"][0]["id"], "text": "I play the viola on Sundays."}])
    # mem0's client sends the filter as the repr of a dictionary.
    seen["deleted all"] = client.delete_all(filters={"user_id": "ann"})
    seen["ann afterwards"] = client.get_all(filters={"user_id": "ann"})
    seen["bob afterwards"] = client.get_all(filters={"user_id": "bob"})
    seen["asynchronous"] = asyncio.run(asynchronous(host, key))
    seen["self-hosted"] = self_hosted(host, key)
    return seen


def exported(host: str, key: str) -> list[Any]:
    """The lines that the program of docs/build/mem0.md writes, in pages of one memory."""
    (program,) = (each for each in PROGRAM.findall(PAGE.read_text()) if "get_all" in each)
    settings = {'MemoryClient(api_key="...")': f"MemoryClient(api_key={key!r}, host={host!r})", "page_size=100": "page_size=1"}
    for written, wanted in settings.items():
        assert written in program
        program = program.replace(written, wanted)
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        exec(program, {})
        return [json.loads(line) for line in Path("mem0.jsonl").read_text().splitlines()]


def self_hosted(host: str, key: str) -> dict[str, Any]:
    """A session with the REST API of mem0's self-hosted server, for which mem0 has no Python client."""
    seen: dict[str, Any] = {}
    with httpx.Client(base_url=f"{host}/server/", headers={"X-API-Key": key}, timeout=60) as server:

        def call(method: str, path: str, **options: Any) -> Any:
            response = server.request(method, path, **options)
            return response.json() if response.is_success else [response.status_code, response.json()]

        said = [{"role": "user", "content": "I have a parrot called Polly."}]
        seen["added"] = call("POST", "memories", json={"messages": said, "user_id": "eli", "run_id": "r1"})
        seen["listed"] = until(lambda: call("GET", "memories", params={"user_id": "eli"}), lambda found: bool(found["results"]))
        memory = f"memories/{seen['listed']['results'][0]['id']}"
        seen["searched"] = call("POST", "search", json={"query": "Which bird?", "filters": {"user_id": "eli"}})
        seen["updated"] = [call("PUT", memory, json={"text": "I have a parrot called Molly."}), call("GET", memory)]
        seen["history"] = call("GET", f"{memory}/history")
        seen["deleted"] = [call("DELETE", "memories", params={"user_id": "eli"}), call("GET", memory)]
        seen["of bob"] = call("GET", "memories", params={"user_id": "bob"})
    return seen


async def asynchronous(host: str, key: str) -> dict[str, Any]:
    async with AsyncMemoryClient(api_key=key, host=host) as client:
        return {
            "searched": await client.search("Which instrument?", filters={"user_id": "bob"}),
            "listed": await client.get_all(filters={"user_id": "bob"}, page=1, page_size=1),
        }


if __name__ == "__main__":
    print(json.dumps(session(*sys.argv[1:])))
