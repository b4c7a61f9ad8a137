"""Small exports of each format."""

from typing import Any

CHATGPT: dict[str, Any] = {
    "conversation_id": "c1",
    "title": "Moving",
    "create_time": 1_700_000_000.5,
    "current_node": "n4",
    "mapping": {
        "n0": {"id": "n0", "message": None, "parent": None, "children": ["n1"]},
        "n1": {
            "id": "n1",
            "parent": "n0",
            "children": ["n2", "n3"],
            "message": {
                "id": "m1",
                "author": {"role": "user"},
                "create_time": 1_700_000_001.0,
                "content": {"content_type": "text", "parts": ["I moved to Bergen."]},
            },
        },
        "n2": {
            "id": "n2",
            "parent": "n1",
            "children": [],
            "message": {
                "id": "m2",
                "author": {"role": "assistant"},
                "create_time": 1_700_000_002.0,
                "content": {"content_type": "text", "parts": ["A first answer."]},
            },
        },
        "n3": {
            "id": "n3",
            "parent": "n1",
            "children": ["n4"],
            "message": {
                "id": "m3",
                "author": {"role": "tool", "name": "web"},
                "create_time": 1_700_000_003.0,
                "content": {"content_type": "text", "parts": ["A page."]},
            },
        },
        "n4": {
            "id": "n4",
            "parent": "n3",
            "children": [],
            "message": {
                "id": "m4",
                "author": {"role": "assistant"},
                "create_time": None,
                "content": {"content_type": "text", "parts": ["How is it there?"]},
            },
        },
    },
}
CLAUDE: dict[str, Any] = {
    "uuid": "k1",
    "name": "Cat",
    "created_at": "2024-05-06T12:00:00Z",
    "chat_messages": [
        {
            "uuid": "a",
            "sender": "human",
            "text": "",
            "content": [{"type": "text", "text": "I have a cat."}],
            "created_at": "2024-05-06T12:00:01Z",
        },
        {
            "uuid": "b",
            "sender": "assistant",
            "content": [{"type": "thinking", "thinking": "A cat."}, {"type": "text", "text": "What is its name?"}],
            "created_at": "2024-05-06T12:00:02Z",
        },
        {"uuid": "c", "sender": "human", "text": " ", "content": [], "created_at": "2024-05-06T12:00:03Z"},
    ],
}
MEM0: dict[str, Any] = {
    "id": "f1",
    "memory": "Likes hiking",
    "user_id": "ann",
    "agent_id": "coach",
    "metadata": {"source": "app"},
    "categories": ["hobbies"],
    "created_at": "2024-05-06T05:00:00-07:00",
    "updated_at": "2024-05-06T05:00:00-07:00",
}
ZEP_MESSAGE: dict[str, Any] = {
    "uuid": "z1",
    "role": "user",
    "name": "Ann",
    "content": "I play the cello.",
    "created_at": "2024-06-01T00:00:00Z",
    "reference_time": "2024-05-06T12:00:00Z",
}
ZEP_EPISODE: dict[str, Any] = {
    "uuid": "z2",
    "source": "message",
    "content": "I have a sister.",
    "role": "user",
    "role_name": "Ann",
    "reference_time": "2024-05-07T12:00:00Z",
    "thread_uuid": "t1",
}
ZEP_EDGE: dict[str, Any] = {"uuid": "z3", "fact": "Ann lives in Oslo", "valid_at": "2024-05-08T12:00:00Z", "episode_uuids": ["z2"]}
LOCOMO: dict[str, Any] = {
    "sample_id": "conv-1",
    "qa": [],
    "conversation": {
        "speaker_a": "Ann",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "I live in Bergen."}],
    },
}
EVENT: dict[str, Any] = {
    "id": "e1",
    "kind": "event",
    "type": "fact",
    "user": "ann",
    "session": "s1",
    "content": "I have a cat called Pixel.",
    "speaker": "Ann",
    "event_time": "2024-05-06T12:00:00Z",
    "said_at": "2024-05-06T13:00:00Z",
    "evidence": ["m1"],
}
