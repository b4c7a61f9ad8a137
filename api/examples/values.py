"""The type of an example, and the values that examples of several subjects contain."""

from typing import Any, Final, NamedTuple


class Example(NamedTuple):
    """One exchange."""

    response: Any
    request: Any = None
    """None: the operation has no body."""


POSITION: Final = {"topic": "messages", "partition": 3, "offset": 1207}
CHANGED: Final = {"position": 412, "changed": True, "settled": False}
TIME: Final = "2026-11-26T09:30:00Z"
EVENT: Final = {
    "id": "0d0b9f3e-8f51-5f0a-9f0e-6f5a0f6f2a11",
    "user": "ann",
    "kind": "event",
    "type": "fact",
    "content": "I moved to Bergen last week, and my cat is called Pixel.",
    "speaker": "Ann",
    "properties": {},
    "keywords": ["Bergen", "cat", "Pixel"],
    "importance": 0.6,
    "event_time": TIME,
    "date": "2026-11-16/2026-11-22",
    "said_at": "2026-11-23T18:00:00Z",
    "session": "s1",
    "generation": "",
    "version": 0,
    "evidence": ["m1"],
}
PROFILE: Final = {
    "id": "5b1c9a55-0a3e-5d52-8a3b-0b7f5d3f9c10",
    "user": "ann",
    "kind": "entity",
    "type": "user_profile",
    "content": "home: Bergen",
    "properties": {"user": "ann", "home": "Bergen"},
    "keywords": [],
    "importance": 0.5,
    "event_time": TIME,
    "entity_key": "ann",
    "generation": "",
    "version": 3,
    "evidence": ["m1"],
}
KEY: Final = {
    "id": "k1",
    "label": "backend",
    "created": TIME,
    "expires": None,
    "last_used": TIME,
}
SUBJECT: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
