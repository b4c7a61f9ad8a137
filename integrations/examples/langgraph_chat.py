"""A chatbot with long-term memory on LangGraph: ``python langgraph_chat.py USER SESSION``.

It answers each line of standard input, and puts what the user says into the store, where it finds it in later sessions. Set
``VARVE_CLIENT__API_KEY`` (of a tenant that stores items: see the README), ``OPENAI_API_KEY`` and ``CHAT_MODEL``; ``VARVE_CLIENT__URL``
and ``OPENAI_BASE_URL`` if the services are not at their default addresses. It needs ``langgraph`` and ``langchain-openai``.
"""

import os
import sys
from typing import Any
from uuid import uuid4

from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from varve_client import VarveClient
from varve_integrations.langgraph import VarveStore


def main(user: str, session: str) -> None:
    """Answers the lines of standard input until it ends."""
    url = os.environ.get("VARVE_CLIENT__URL", "http://127.0.0.1:8080")
    llm = ChatOpenAI(model=os.environ["CHAT_MODEL"])

    def answer(state: MessagesState, runtime: Runtime[None]) -> dict[str, Any]:
        assert runtime.store is not None
        namespace, question = ("memories", user), state["messages"][-1].text
        notes = "\n".join(f"- {each.value['text']}" for each in runtime.store.search(namespace, query=question, limit=5))
        runtime.store.put(namespace, uuid4().hex, {"text": question})
        prompt = HumanMessage(f"Notes from earlier conversations:\n{notes}\n\n{question}")
        return {"messages": [llm.invoke([*state["messages"][:-1], prompt])]}

    builder = StateGraph(MessagesState)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    with VarveClient(url, api_key=os.environ["VARVE_CLIENT__API_KEY"]) as varve:
        # The second label of a namespace names the user, whose erasure erases these items.
        graph = builder.compile(checkpointer=InMemorySaver(), store=VarveStore(varve, user="shared", user_label=1))
        for line in sys.stdin:
            result = graph.invoke({"messages": [HumanMessage(line.strip())]}, {"configurable": {"thread_id": session}})
            print(result["messages"][-1].text, flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
