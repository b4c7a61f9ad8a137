"""A made-up user's file in RealMem's form."""

from pathlib import Path
from typing import Any

import orjson

SESSIONS: list[tuple[str, str, list[tuple[str, str]]]] = [
    (
        "aaaa0001",
        "2025-12-15 (Monday)",
        [
            ("User", "I adopted a grey cat called Minka from the shelter."),
            ("Assistant", "Congratulations! A kitten needs four small meals a day."),
        ],
    ),
    (
        "aaaa0002",
        "2025-12-20 (Saturday)",
        [
            ("User", "I booked a sailing course in Kiel for 3 weeks."),
            ("Assistant", "Great. Pack a waterproof jacket and two pairs of gloves."),
        ],
    ),
    (
        "aaaa0003",
        "2026-01-02 (Friday)",
        [
            ("User", "How often should I feed my cat Minka, by the way?"),
            ("Assistant", "Four small meals a day, as we said."),
            ("User", "And which jacket do I pack for the sailing course?"),
            ("Assistant", "A waterproof one."),
        ],
    ),
]
"""Id, date and turns of each session."""


def gold(session: str, turn: int, content: str, snapshot: str, role: str = "User") -> dict[str, Any]:
    """A gold memory; ``turn`` counts from 1."""
    return {
        "index": f"{session}-{turn}",
        "type": "Dynamic",
        "content": content,
        "source_turn": turn,
        "source_content_snapshot": snapshot,
        "source_role_snapshot": role,
        "session_uuid": session,
    }


def dialogues() -> list[dict[str, Any]]:
    """The sessions: the first two have gold memories, the third asks two queries that use them."""
    made: list[dict[str, Any]] = [
        {
            "session_identifier": f"Topic:{session}",
            "session_uuid": session,
            "current_time": day,
            "dialogue_turns": [{"speaker": speaker, "is_query": False, "content": text, "query_id": None} for speaker, text in turns],
            "extracted_memory": [],
        }
        for session, day, turns in SESSIONS
    ]
    cat, meals = SESSIONS[0][2][0][1], SESSIONS[0][2][1][1]
    made[0]["extracted_memory"] = [
        gold("aaaa0001", 1, "User has a grey cat called Minka.", cat),
        gold("aaaa0001", 2, "【Care】 The kitten needs four small meals a day.", meals, role="Assistant"),
    ]
    made[1]["extracted_memory"] = [
        gold("aaaa0002", 2, "【Packing】 Pack a waterproof jacket and gloves.", "a text that was edited later", role="Assistant"),
        gold("aaaa0002", 9, "User sails.", "a text that is nowhere"),
    ]
    turns = made[2]["dialogue_turns"]
    turns[0] |= {"is_query": True, "query_id": "Q-1", "category_name": "Dynamic Incremental", "session_type": "single_session"}
    turns[1] |= _used(("aaaa0001", "【Care】 The kitten needs four small meals a day."))
    turns[2] |= {"is_query": True, "query_id": "Q-2", "category_name": "Implicit Preference", "session_type": "multi_session"}
    turns[3] |= _used(("aaaa0002", "【Packing】 Pack a waterproof jacket and gloves."), ("aaaa0002", "User sails."))
    return made


def _used(*memories: tuple[str, str]) -> dict[str, Any]:
    return {
        "memory_used": [{"session_uuid": session, "content": content} for session, content in memories],
        "memory_session_uuids": sorted({session for session, _ in memories}),
    }


def written(folder: Path, sessions: list[dict[str, Any]], name: str = "Ann_Example") -> Path:
    """Writes a user's file.

    Args:
        folder: RealMem's folder.
        sessions: As :func:`dialogues` makes them.
        name: The user.
    """
    path = folder / f"{name}_dialogues_256k.json"
    path.write_bytes(orjson.dumps({"_metadata": {"person_name": name}, "dialogues": sessions}))
    return path
