"""An agent that remembers how its tools behave: ``python agent_tools.py AGENT TASK``.

The model may call two tools: one that fails for unknown cities, and one that searches the agent's memory. Every step is sent to Varve as
it happened, tool calls included. Under the shipped schema ``agent_tools`` they become statistics and lessons for each tool:
``varve tenants add agents --schema agent_tools`` creates such a tenant and prints its key. The environment is that of
``chatbot_openai.py``.
"""

import asyncio
import json
import os
import sys
import time
import uuid
from typing import Any

from openai import AsyncOpenAI
from varve_client import AsyncVarveClient

DISTANCES_KM = {"oslo": 0, "bergen": 463, "trondheim": 494}
MAX_STEPS = 8


def tool(name: str, description: str, argument: str) -> dict[str, Any]:
    """The description of a tool with one argument, as the chat completions API expects it."""
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = [
    tool("distance_from_oslo", "Distance of a Norwegian city from Oslo by road, in km.", "city"),
    tool("search_memory", "What is remembered of earlier tasks.", "query"),
]


class Agent:
    """Works on one task and records each step as a message."""

    def __init__(self, memory: AsyncVarveClient, llm: AsyncOpenAI, *, name: str) -> None:
        self._memory, self._llm, self._name = memory, llm, name
        self._session = str(uuid.uuid4())
        self._trace: list[dict[str, Any]] = []

    async def work(self, task: str) -> str:
        """Returns the answer to a task, and stores how it was found."""
        self._record(role="user", speaker="Operator", text=task)
        chat: list[Any] = [{"role": "user", "content": task}]
        text = "I did not finish within the allowed number of steps."
        for _ in range(MAX_STEPS):
            reply = await self._llm.chat.completions.create(model=os.environ["CHAT_MODEL"], messages=chat, tools=TOOLS)  # type: ignore[call-overload]
            message = reply.choices[0].message
            chat.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                text = message.content or ""
                break
            for call in message.tool_calls:
                result = await self._call(call.function.name, json.loads(call.function.arguments))
                chat.append({"role": "tool", "tool_call_id": call.id, "content": result})
        self._record(role="assistant", speaker=self._name, text=text)
        await self._memory.send(self._trace)
        await self._memory.flush(self._session)
        return text

    async def _call(self, name: str, arguments: dict[str, Any]) -> str:
        started = time.perf_counter()
        try:
            result, error = await self._result(name, arguments), None
        except KeyError as missing:
            result, error = f"Unknown city: {missing}.", "unknown city"
        call = {
            "name": name,
            "arguments": arguments,
            "success": error is None,
            "error": error,
            "duration_ms": round((time.perf_counter() - started) * 1000, 1),
        }
        # What a recall returned must not be extracted again as if it were news.
        self._record(role="tool", speaker=name, text=result, tool_call=call, from_recall=name == "search_memory")
        return result

    async def _result(self, name: str, arguments: dict[str, Any]) -> str:
        if name == "search_memory":
            block = await self._memory.context(arguments["query"], user=self._name, tokens=500)
            return block.context or "Nothing is remembered."
        return f"{DISTANCES_KM[arguments['city'].casefold()]} km"

    def _record(self, **fields: Any) -> None:
        self._trace.append({"user": self._name, "session": self._session, **fields})


async def main(name: str, task: str) -> None:
    """Works on the task and prints the answer."""
    url = os.environ.get("VARVE_CLIENT__URL", "http://127.0.0.1:8080")
    async with AsyncVarveClient(url, api_key=os.environ["VARVE_CLIENT__API_KEY"]) as memory, AsyncOpenAI() as llm:
        print(await Agent(memory, llm, name=name).work(task))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
