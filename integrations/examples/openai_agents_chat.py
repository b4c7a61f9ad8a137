"""An agent with long-term memory on the OpenAI Agents SDK: ``python openai_agents_chat.py USER SESSION``.

It answers each line of standard input; its tool ``recall`` searches earlier conversations. Set ``VARVE_CLIENT__API_KEY``,
``OPENAI_API_KEY`` and ``CHAT_MODEL``; ``VARVE_CLIENT__URL`` and ``OPENAI_BASE_URL`` if the services are not at their default addresses.
"""

import asyncio
import os
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
from openai import AsyncOpenAI
from varve_client import AsyncVarveClient
from varve_integrations.openai_agents import VarveSession


async def main(user: str, session_id: str) -> None:
    """Answers the lines of standard input until it ends."""
    url = os.environ.get("VARVE_CLIENT__URL", "http://127.0.0.1:8080")
    async with AsyncVarveClient(url, api_key=os.environ["VARVE_CLIENT__API_KEY"]) as varve, AsyncOpenAI() as llm:

        @function_tool
        async def recall(question: str) -> str:
            """Searches earlier conversations with the user."""
            return (await varve.context(question, user=user)).context

        agent = Agent(
            name="companion",
            instructions="You are a friendly companion. Search earlier conversations where that may help.",
            model=OpenAIChatCompletionsModel(model=os.environ["CHAT_MODEL"], openai_client=llm),
            tools=[recall],
        )
        session = VarveSession(varve, user=user, session_id=session_id)
        while line := await asyncio.to_thread(sys.stdin.readline):
            result = await Runner.run(agent, line.strip(), session=session)
            print(result.final_output, flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
