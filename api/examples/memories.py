"""Examples of memories: reads, entities, blocks and corrections."""

from typing import Any, Final

from api.examples.values import EVENT, POSITION, PROFILE, TIME, Example

_CORRECTED: Final = {
    "id": "c0ffee00-0000-5000-8000-000000000001",
    "memory_id": EVENT["id"],
    "outcome": "accepted",
    "position": {**POSITION, "topic": "extractions"},
}
_EDIT_ID: Final = "c0ffee00-0000-5000-8000-000000000002"
_BLOCK: Final[dict[str, Any]] = {
    "entity_type": "core_memory",
    "property": "human",
    "description": "What is known about the user.",
    "user": "ann",
    "text": "Lives in Bergen.\nHas a cat, Pixel.",
    "version": 4,
    "characters": 35,
    "max_characters": 2000,
    "edits": [{"id": _EDIT_ID, "tool": "replace", "by": "planner (k3)", "time": TIME, "status": "applied", "undoable": True}],
}

MEMORIES: Final[dict[str, Example]] = {
    "get_memory": Example(EVENT),
    "list_memories": Example({"memories": [EVENT, PROFILE], "next": None}),
    "delete_memory": Example({**_CORRECTED, "remaining": []}),
    "get_entity": Example({**PROFILE, "degraded": []}),
    "get_entity_history": Example(
        {
            "type": "user_profile",
            "key": "ann",
            "steps": [
                {
                    "id": "extractions/0@41",
                    "kind": "extraction",
                    "recorded_at": TIME,
                    "time": TIME,
                    "user": "ann",
                    "changes": [
                        {
                            "property": "home",
                            "op": "apply",
                            "value": {"search": "", "replace": "Bergen"},
                            "event_time": TIME,
                            "source_id": EVENT["id"],
                            "evidence": ["m1"],
                            "extractor": "offline",
                            "fate": "stands",
                            "by": None,
                        }
                    ],
                    "before": {"home": None},
                    "after": {"home": "Bergen"},
                }
            ],
            "next": None,
            "total": 1,
            "complete": True,
        }
    ),
    "list_blocks": Example({"blocks": [{**_BLOCK, "degraded": []}]}),
    "get_block": Example({**_BLOCK, "degraded": []}),
    "edit_block": Example(
        {"id": _EDIT_ID, "status": "applied", "position": {**POSITION, "topic": "extractions"}, "block": _BLOCK},
        {"user": "ann", "tool": "replace", "old": "Lives in Oslo.", "text": "Lives in Bergen.", "reason": "Ann said so"},
    ),
    "undo_block_edit": Example(
        {
            "id": "c0ffee00-0000-5000-8000-000000000003",
            "status": "undone",
            "position": {**POSITION, "topic": "extractions", "offset": 1208},
            "block": {
                **_BLOCK,
                "text": "Lives in Oslo.\nHas a cat, Pixel.",
                "characters": 33,
                "version": 5,
                "edits": [{"id": _EDIT_ID, "tool": "replace", "by": "planner (k3)", "time": TIME, "status": "undone"}],
            },
        },
        {"user": "ann"},
    ),
    "correct_memory": Example(_CORRECTED, {"content": "Ann moved to Bergen in October.", "date": "2026-10", "reason": "Ann said so"}),
    "invalidate_memory": Example(
        {
            **_CORRECTED,
            "remaining": [
                {
                    "what": "message",
                    "id": "m1",
                    "reason": "the log keeps the message; DELETE /v1/messages/{session}/{id} removes it and all that is based on it",
                }
            ],
        },
        {"reason": "it was a joke"},
    ),
    "revert_memory": Example(_CORRECTED, {"reason": "it was true"}),
}
