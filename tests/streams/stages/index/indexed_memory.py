"""A memory for the index stage."""

from datetime import UTC, datetime

from memory.ids import event_id
from memory.records import Memory


def memory(number: int, content: str) -> Memory:
    return Memory(
        id=event_id("w", number),
        tenant="acme",
        user="ada",
        kind="event",
        type="preference",
        content=content,
        event_time=datetime(2024, 5, 1, tzinfo=UTC),
        message_ids=["m1"],
    )
