"""Windows of messages in any accepted shape."""

from typing import Any

from memory.messages.message_preparation import message_of
from memory.records import Window

HEAD: dict[str, Any] = {"tenant": "acme", "user": "ann", "session": "s1", "event_time": "2024-05-06T18:00:00Z"}


def window_of(*messages: dict[str, Any]) -> Window:
    return Window(
        id="w1",
        tenant="acme",
        user="ann",
        session="s1",
        sequence=0,
        messages=[message_of({**HEAD, "id": f"m{index}", **each}) for index, each in enumerate(messages)],
        closed_by="flush",
        source_partition=0,
        first_offset=0,
        last_offset=9,
    )
