"""A chatbot with long-term memory on LangChain: ``python langchain_chat.py USER SESSION``.

It answers each line of standard input. Set ``VARVE_CLIENT__API_KEY``, ``OPENAI_API_KEY`` and ``CHAT_MODEL``; ``VARVE_CLIENT__URL`` and
``OPENAI_BASE_URL`` if the services are not at their default addresses. It needs ``langchain-openai``.
"""

import os
import sys

from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from varve_client import VarveClient
from varve_integrations.langchain import VarveChatMessageHistory, VarveRetriever


def main(user: str, session: str) -> None:
    """Answers the lines of standard input until it ends."""
    url = os.environ.get("VARVE_CLIENT__URL", "http://127.0.0.1:8080")
    llm = ChatOpenAI(model=os.environ["CHAT_MODEL"])
    with VarveClient(url, api_key=os.environ["VARVE_CLIENT__API_KEY"]) as varve:
        retriever = VarveRetriever(client=varve, user=user, k=5)
        history = VarveChatMessageHistory(varve, user=user, session=session)
        for line in sys.stdin:
            question = line.strip()
            notes = "\n".join(f"- {each.page_content}" for each in retriever.invoke(question))
            # Recalled text is data. It belongs into the user's part of the prompt, and not into the history.
            prompt = HumanMessage(f"Notes from earlier conversations:\n{notes}\n\n{question}")
            reply = llm.invoke([*history.messages, prompt])
            history.add_messages([HumanMessage(question), reply])
            print(reply.text, flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
