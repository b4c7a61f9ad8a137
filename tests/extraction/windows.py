"""Windows to extract from."""

from datetime import UTC, datetime, timedelta
from typing import Any

from memory.records import Message, Window
from memory.schema import sample_conversation
from tests.made_records import made_window

BEGIN = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def window_of(*messages: str | dict[str, Any], user: str = "alice", interval: timedelta = MINUTE, **fields: object) -> Window:
    """A window of texts, or of messages' fields.

    Args:
        messages: Each a text, or fields of a message.
        user: The user of the session.
        interval: Between two messages.
        fields: Of every message.
    """
    given = [{"text": each} if isinstance(each, str) else each for each in messages]
    common = {"tenant": "acme", "user": user, "session": "s1"} | fields
    return made_window(
        [
            Message.model_validate({"id": f"m{index}", "event_time": BEGIN + index * interval} | common | each)
            for index, each in enumerate(given)
        ],
        id="3b1e4a52-0000-5000-8000-000000000001",
        tenant="acme",
        user=user,
        session="s1",
    )


def sample_window(name: str) -> Window:
    """A scenario's sample conversation as one window."""
    owner = ("tenant", "user", "session")
    return window_of(*({key: value for key, value in turn.items() if key not in owner} for turn in sample_conversation(name)))
