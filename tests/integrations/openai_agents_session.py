"""A session of the OpenAI Agents SDK, run in an environment that has it. Prints one JSON object.

Usage: ``python openai_agents_session.py``, with the address and the key in the environment.
"""

import asyncio
import json
import os
from typing import Any

from agents.memory import Session, SessionSettings
from varve_client import AsyncVarveClient
from varve_integrations.openai_agents import VarveSession

from tests.waiting import until_async

SAID: list[Any] = [
    {"role": "user", "content": "How warm is it in Bergen?"},
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Bergen"}', "id": "fc_1"},
    {"type": "function_call_output", "call_id": "c1", "output": "9 degrees"},
    {"type": "message", "role": "assistant", "id": "m_1", "content": [{"type": "output_text", "text": "It is 9 degrees."}]},
]


async def shown(client: AsyncVarveClient, count: int) -> None:
    """Waits until the service shows so many messages."""
    await until_async(lambda: client.session("agent"), lambda session: len(session.messages) == count)


async def session() -> dict[str, Any]:
    async with AsyncVarveClient(os.environ["VARVE_CLIENT__URL"], api_key=os.environ["VARVE_CLIENT__API_KEY"]) as client:

        def opened(limit: int | None = None) -> VarveSession:
            return VarveSession(client, user="greta", session_id="agent", session_settings=SessionSettings(limit=limit))

        own = opened()
        seen: dict[str, Any] = {"is a session": isinstance(own, Session), "empty": [await own.get_items(), await own.pop_item()]}
        await own.add_items(SAID)
        seen["at once"] = await own.get_items()
        await shown(client, 4)
        seen["by another"] = await opened().get_items()
        seen["newest"] = [await opened().get_items(1), await opened(limit=2).get_items()]
        seen["popped"] = [await own.pop_item(), await own.pop_item()]
        seen["after pops"] = await own.get_items()
        await own.clear_session()
        seen["cleared"] = await own.get_items()
        await shown(client, 0)
        seen["cleared for others"] = await opened().get_items()
        return seen


if __name__ == "__main__":
    print(json.dumps(asyncio.run(session())))
