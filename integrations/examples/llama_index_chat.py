"""A chatbot with long-term memory on LlamaIndex: ``python llama_index_chat.py USER SESSION``.

It answers each line of standard input. Set ``VARVE_CLIENT__API_KEY``, ``OPENAI_API_KEY`` and ``CHAT_MODEL``; ``VARVE_CLIENT__URL`` and
``OPENAI_BASE_URL`` if the services are not at their default addresses. It needs ``llama-index-core`` and ``openai``.
"""

import asyncio
import os
import sys
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import InsertMethod, Memory
from openai import AsyncOpenAI
from varve_client import AsyncVarveClient
from varve_integrations.llama_index import VarveMemoryBlock


async def main(user: str, session: str) -> None:
    """Answers the lines of standard input until it ends."""
    url = os.environ.get("VARVE_CLIENT__URL", "http://127.0.0.1:8080")
    async with AsyncVarveClient(url, api_key=os.environ["VARVE_CLIENT__API_KEY"]) as varve, AsyncOpenAI() as llm:
        # The application gives the block each turn at once; Memory would do so only when its queue is full.
        block = VarveMemoryBlock(client=varve, user=user, accept_short_term_memory=False)
        # Recalled text is data: it goes into the user's part of the prompt.
        memory = Memory.from_defaults(session_id=session, memory_blocks=[block], insert_method=InsertMethod.USER)
        while line := await asyncio.to_thread(sys.stdin.readline):
            question = ChatMessage(role="user", content=line.strip())
            await memory.aput(question)
            prompt: list[Any] = [{"role": each.role.value, "content": each.content} for each in await memory.aget()]
            reply = await llm.chat.completions.create(model=os.environ["CHAT_MODEL"], messages=prompt)
            answer = ChatMessage(role="assistant", content=reply.choices[0].message.content)
            await memory.aput(answer)
            await block.aput([question, answer], session_id=session)
            print(answer.content, flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
