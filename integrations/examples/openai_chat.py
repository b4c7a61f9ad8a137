"""A chatbot with long-term memory in two lines, on OpenAI's client: ``python openai_chat.py USER SESSION``.

It answers each line of standard input. Set ``VARVE_CLIENT__API_KEY``, ``OPENAI_API_KEY`` and ``CHAT_MODEL``; ``VARVE_CLIENT__URL`` and
``OPENAI_BASE_URL`` if the services are not at their default addresses.
"""

import os
import sys
from typing import Any

from openai import OpenAI
from varve_integrations.openai import ChatMemory


def main(user: str, session: str) -> None:
    """Answers the lines of standard input until it ends."""
    url = os.environ.get("VARVE_CLIENT__URL", "http://127.0.0.1:8080")
    with ChatMemory(url, api_key=os.environ["VARVE_CLIENT__API_KEY"], recall_timeout_s=5.0) as memory:
        client = memory.wrap(OpenAI(), user=user, session=session)
        messages: list[Any] = [{"role": "system", "content": "You are a friendly companion."}]
        for line in sys.stdin:
            messages.append({"role": "user", "content": line.strip()})
            reply = client.chat.completions.create(model=os.environ["CHAT_MODEL"], messages=messages)
            messages.append({"role": "assistant", "content": reply.choices[0].message.content})
            print(reply.choices[0].message.content, flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
