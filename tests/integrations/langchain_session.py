"""A chat history and the asynchronous retriever of LangChain, run in an environment that has it. Prints one JSON object.

Usage: ``python langchain_session.py``, with the address and the key in the environment.
"""

import asyncio
import json
import os
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from varve_client import AsyncVarveClient, VarveClient
from varve_integrations.langchain import VarveChatMessageHistory, VarveRetriever

from tests.waiting import until

URL, KEY = os.environ["VARVE_CLIENT__URL"], os.environ["VARVE_CLIENT__API_KEY"]
SAID = [
    HumanMessage("How warm is it in Bergen?"),
    AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Bergen"}, "id": "call-1"}]),
    ToolMessage("9 degrees", tool_call_id="call-1"),
    AIMessage("It is 9 degrees."),
]


def plain(messages: list[BaseMessage]) -> list[Any]:
    return [
        [
            message.type,
            message.content,
            [[call["name"], call["args"], call["id"]] for call in getattr(message, "tool_calls", [])],
            getattr(message, "tool_call_id", ""),
        ]
        for message in messages
    ]


def session() -> dict[str, Any]:
    with VarveClient(URL, api_key=KEY) as client:
        history = VarveChatMessageHistory(client, user="hanna", session="weather")
        client.send([{"user": "another", "session": "weather", "text": "I am somebody else."}])
        history.add_messages(SAID)
        seen: dict[str, Any] = {"said": plain(SAID), "at once": plain(history.messages)}
        until(lambda: client.session("weather").messages, lambda shown: len(shown) > len(SAID))
        seen["by another"] = plain(VarveChatMessageHistory(client, user="hanna", session="weather").messages)
        history.add_user_message("Thanks.")
        seen["later"] = [each[1] for each in plain(history.messages)]
        history.clear()
        seen["cleared"] = plain(history.messages)
        until(lambda: client.session("weather").messages, lambda shown: len(shown) <= 1)
        seen["cleared for others"] = plain(VarveChatMessageHistory(client, user="hanna", session="weather").messages)
        seen["documents"] = asyncio.run(documents(client))
    return seen


async def documents(client: VarveClient) -> list[Any]:
    async with AsyncVarveClient(URL, api_key=KEY) as async_client:
        found = await VarveRetriever(client=client, async_client=async_client, user="rita", k=1).ainvoke("Which instrument?")
    return [[each.page_content, each.id, each.metadata] for each in found]


if __name__ == "__main__":
    print(json.dumps(session()))
