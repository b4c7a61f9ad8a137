"""A chatbot with long-term memory, on OpenAI's client: ``python chatbot_openai.py USER [SESSION]``.

It answers each line of standard input and remembers both sides of the conversation. Set ``VARVE_CLIENT__API_KEY``, ``OPENAI_API_KEY`` and
``CHAT_MODEL``; ``VARVE_CLIENT__URL`` and ``OPENAI_BASE_URL`` if the services are not at their default addresses.
"""

import asyncio
import os
import sys
import uuid

from openai import AsyncOpenAI
from varve_client import AsyncVarveClient

SYSTEM = "You are a friendly companion. A message may begin with notes from earlier conversations: use them where they help."


async def answer(memory: AsyncVarveClient, llm: AsyncOpenAI, *, user: str, session: str, question: str) -> str:
    """Answers one message, and stores the message and the answer."""
    block = await memory.context(question, user=user, session=session, tokens=800)
    reply = await llm.chat.completions.create(
        model=os.environ["CHAT_MODEL"],
        messages=[
            {"role": "system", "content": SYSTEM},
            # Recalled text is data. It belongs into the user's part of the prompt, never into the system's.
            {"role": "user", "content": f"{block.context}\n\n{question}"},
        ],
    )
    text = reply.choices[0].message.content or ""
    await memory.send(
        [
            {"user": user, "session": session, "role": "user", "speaker": user, "text": question},
            {"user": user, "session": session, "role": "assistant", "text": text},
        ]
    )
    return text


async def main(user: str, session: str) -> None:
    """Answers the lines of standard input until it ends."""
    url = os.environ.get("VARVE_CLIENT__URL", "http://127.0.0.1:8080")
    async with AsyncVarveClient(url, api_key=os.environ["VARVE_CLIENT__API_KEY"]) as memory, AsyncOpenAI() as llm:
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(await answer(memory, llm, user=user, session=session, question=line.strip()), flush=True)
        # The conversation is over: extract it now instead of after half an hour of silence.
        await memory.flush(session)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else str(uuid.uuid4())))
