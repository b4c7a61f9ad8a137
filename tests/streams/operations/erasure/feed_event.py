"""An event in the change feed."""

from memory.records import Memory
from tests.streams.agent_extractions import START, TENANT

USER = "agent"


def event(name: str, *, user: str = USER, window: str = "w-lost", tenant: str = TENANT) -> Memory:
    return Memory(id=name, tenant=tenant, user=user, kind="event", type="tool_call", content="said", window_id=window, event_time=START)
