"""An agent with long-term memory on Pydantic AI: ``python pydantic_ai_chat.py USER SESSION``.

It answers each line of standard input; its tool ``recall_memory`` searches earlier conversations. Set ``VARVE_CLIENT__API_KEY``,
``OPENAI_API_KEY`` and ``CHAT_MODEL``; ``VARVE_CLIENT__URL`` and ``OPENAI_BASE_URL`` if the services are not at their default addresses. It
needs ``pydantic-ai-slim[openai]``.
"""

import asyncio
import os
import sys

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.openai import OpenAIChatModel
from varve_client import AsyncVarveClient
from varve_integrations.pydantic_ai import VarveToolset


async def main(user: str, session: str) -> None:
    """Answers the lines of standard input until it ends."""
    url = os.environ.get("VARVE_CLIENT__URL", "http://127.0.0.1:8080")
    async with AsyncVarveClient(url, api_key=os.environ["VARVE_CLIENT__API_KEY"]) as varve:
        memory = VarveToolset(varve, user=lambda run: run.deps)
        agent = Agent(OpenAIChatModel(os.environ["CHAT_MODEL"]), deps_type=str, toolsets=[memory], instructions="You are a companion.")
        history: list[ModelMessage] = []
        while line := await asyncio.to_thread(sys.stdin.readline):
            result = await agent.run(line.strip(), deps=user, message_history=history)
            history = result.all_messages()
            # The application sends what was said: nothing depends on the model.
            await memory.remember_messages(result.new_messages(), user=user, session=session)
            print(result.output, flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
