"""An agent with long-term memory on Google's Agent Development Kit: ``python google_adk_chat.py USER SESSION``.

It answers each line of standard input; ADK's tool ``load_memory`` searches earlier conversations. Set ``VARVE_CLIENT__API_KEY``,
``OPENAI_API_KEY`` and ``CHAT_MODEL``; ``VARVE_CLIENT__URL`` and ``OPENAI_BASE_URL`` if the services are not at their default addresses. It
needs ``google-adk`` and ``litellm``.
"""

import asyncio
import os
import sys

from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import load_memory
from google.genai.types import Content, Part
from varve_client import AsyncVarveClient
from varve_integrations.google_adk import VarveMemoryService

APP = "companion"


async def main(user: str, session_id: str) -> None:
    """Answers the lines of standard input until it ends, and then adds the session to the memory."""
    url = os.environ.get("VARVE_CLIENT__URL", "http://127.0.0.1:8080")
    async with AsyncVarveClient(url, api_key=os.environ["VARVE_CLIENT__API_KEY"]) as varve:
        agent = LlmAgent(
            name="companion",
            instruction="You are a friendly companion. Search earlier conversations where that may help.",
            model=LiteLlm(model=f"openai/{os.environ['CHAT_MODEL']}"),
            tools=[load_memory],
        )
        sessions, memory = InMemorySessionService(), VarveMemoryService(varve)
        await sessions.create_session(app_name=APP, user_id=user, session_id=session_id)
        runner = Runner(app_name=APP, agent=agent, session_service=sessions, memory_service=memory)
        while line := await asyncio.to_thread(sys.stdin.readline):
            said = Content(role="user", parts=[Part(text=line.strip())])
            async for event in runner.run_async(user_id=user, session_id=session_id, new_message=said):
                if event.is_final_response() and event.content is not None:
                    print("".join(each.text or "" for each in event.content.parts or ()), flush=True)
        session = await sessions.get_session(app_name=APP, user_id=user, session_id=session_id)
        assert session is not None
        await memory.add_session_to_memory(session)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
