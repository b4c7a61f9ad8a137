"""Records for tests, which name only the fields that they are about."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memory.records import Event, Extraction, Message, Window


def made_window(messages: Sequence[Message], **fields: Any) -> Window:
    """The first window of the session of the first message, closed by a flush. Without messages, name tenant, user and session."""
    owner = {"tenant": messages[0].tenant, "user": messages[0].user, "session": messages[0].session} if messages else {}
    defaults = {
        "id": "w",
        **owner,
        "sequence": 0,
        "messages": [*messages],
        "closed_by": "flush",
        "source_partition": 0,
        "first_offset": 0,
        "last_offset": max(0, len(messages) - 1),
    }
    return Window.model_validate(defaults | fields)


def made_event(content: str, said_at: datetime, **fields: Any) -> Event:
    """An event of a message of Ann, extracted without a model, and of the time at which it was said."""
    defaults = {
        "id": "e",
        "tenant": "acme",
        "user": "ann",
        "session": "s",
        "window_id": "w",
        "content": content,
        "event_time": said_at,
        "said_at": said_at,
        "message_ids": ["m"],
        "extractor": "offline",
    }
    return Event.model_validate(defaults | fields)


def made_extraction(events: Sequence[Event], window_end: datetime, **fields: Any) -> Extraction:
    """The extraction of a window with events, of the first event's window; without events, of Ann's first one."""
    first = events[0] if events else made_event("", window_end, type="none")
    defaults = {
        "window_id": first.window_id,
        "tenant": first.tenant,
        "user": first.user,
        "session": first.session,
        "sequence": 0,
        "extractor": first.extractor,
        "message_ids": list(dict.fromkeys(name for each in events for name in each.message_ids)) or ["m"],
        "events": [*events],
        "window_end": window_end,
    }
    return Extraction.model_validate(defaults | fields)
