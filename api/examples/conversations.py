"""Examples of messages and sessions."""

from typing import Final

from api.examples.values import EVENT, POSITION, TIME, Example

_MESSAGE: Final = {
    "id": "m1",
    "session": "s1",
    "user": "ann",
    "role": "user",
    "speaker": "Ann",
    "text": "I moved to Bergen last week, and my cat is called Pixel.",
    "event_time": TIME,
}

CONVERSATIONS: Final[dict[str, Example]] = {
    "send_messages": Example(
        {"id": "m1", "position": POSITION},
        {
            "user": "ann",
            "session": "s1",
            "id": "m1",
            "role": "user",
            "speaker": "Ann",
            "text": "I moved to Bergen last week, and my cat is called Pixel.",
            "event_time": TIME,
        },
    ),
    "edit_message": Example(
        {"id": "m1", "position": POSITION, "outcome": "edited"}, {"user": "ann", "text": "The dinner is at 8 pm at Mario's."}
    ),
    "delete_message": Example({"id": "m1", "position": POSITION, "outcome": "deleted"}),
    "flush_windows": Example({"positions": [POSITION]}, {"session": "s1"}),
    "list_sessions": Example(
        {
            "sessions": [
                {
                    "session": "s1",
                    "users": ["ann"],
                    "messages": 21,
                    "last_message_at": TIME,
                    "closed_window": {"sequence": 0, "message_count": 20},
                    "open_window": {"sequence": 1, "message_count": 1},
                }
            ],
            "next": None,
        }
    ),
    "preview_session": Example(
        {
            "session": "s1",
            "schema": "companion",
            "windows": [
                {
                    "messages": [_MESSAGE],
                    "closed_by": "flush",
                    "prompt_tokens": 2310,
                    "extractor": "offline",
                    "segments": [],
                    "events": [{"type": "fact", "content": EVENT["content"], "message_ids": ["m1"]}],
                    "patches": [],
                    "dropped": [{"what": "event", "reason": "equal to an earlier one", "count": 1}],
                    "usage": [],
                }
            ],
        },
        {"content": None, "limit": 1},
    ),
    "get_evidence": Example({"messages": [_MESSAGE], "missing": []}),
    "get_session": Example(
        {
            "session": "s1",
            "messages": [{"window_sequence": 0, "message": {"id": "m1", "role": "user", "text": "My cat is called Pixel."}}],
            "open_window": {"sequence": 0, "message_count": 1},
        }
    ),
}
