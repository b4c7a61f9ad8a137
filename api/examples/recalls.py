"""Examples of recalls, contexts and searches."""

from typing import Any, Final

from api.examples.values import EVENT, POSITION, PROFILE, Example

_BASIS: Final[dict[str, Any]] = {
    "after": None,
    "at": None,
    "degraded": [],
    "positions": {"memories": [{"topic": "memories", "partition": 0, "offset": 88}], "session": None},
    "ms": 14.2,
}
_RECALL_ID: Final = "b7a5c1c2-53c9-4f3f-9f43-7d1f9b0f3d7e"

RECALLS: Final[dict[str, Example]] = {
    "recall_memories": Example(
        {
            "recall_id": _RECALL_ID,
            "results": [{**EVENT, "score": 0.91, "evidence_scores": [0.91], "superseded_by": None, "repeated_by": None, "keyword": None}],
            "confidence": 0.86,
            "entities": [PROFILE],
            "session": None,
            **_BASIS,
        },
        {"query": "Where does Ann live?", "user": "ann", "limit": 5},
    ),
    "build_context": Example(
        {
            "recall_id": _RECALL_ID,
            "context": "What is known about ann\n[1] home: Bergen",
            "tokens": 12,
            "citations": [{"mark": "1", "id": PROFILE["id"], "kind": "entity", "evidence": ["m1"]}],
            "left_out": 0,
            **_BASIS,
        },
        {"query": "Where does Ann live?", "user": "ann", "session": "s1", "tokens": 800},
    ),
    "send_feedback": Example(
        {"position": {**POSITION, "topic": "recalls"}}, {"recall_id": _RECALL_ID, "user": "ann", "useful": [EVENT["id"]]}
    ),
    "list_links": Example(
        {
            "available": True,
            "nodes": [
                {"id": each["id"], "kind": each["kind"], "type": each["type"], "user": "ann", "content": each["content"], "depth": None}
                for each in (EVENT, PROFILE)
            ],
            "edges": [{"source": EVENT["id"], "target": PROFILE["id"], "relation": "her new home", "score": 0.8}],
            "truncated": False,
        }
    ),
    "search_memories": Example(
        {
            "page": 0,
            "results": [{"id": EVENT["id"], "day": "2026-11-16", "says": EVENT["content"], "score": 0.71, "evidence": ["m1"]}],
            "more": False,
        },
        {"user": "ann", "query": "where Ann lives"},
    ),
}
