"""An example of the request body and of the response of each operation, by operation id, for the OpenAPI document.

A test compares them with the models, and checks that every operation has one.
"""

from typing import Any, Final, NamedTuple


class Example(NamedTuple):
    """One exchange."""

    response: Any
    request: Any = None
    """None: the operation has no body."""


_POSITION: Final = {"topic": "messages", "partition": 3, "offset": 1207}
_CHANGED: Final = {"position": 412, "changed": True, "settled": False}
_TIME: Final = "2026-11-26T09:30:00Z"
_EVENT: Final = {
    "id": "0d0b9f3e-8f51-5f0a-9f0e-6f5a0f6f2a11",
    "user": "ann",
    "kind": "event",
    "type": "fact",
    "content": "I moved to Bergen last week, and my cat is called Pixel.",
    "speaker": "Ann",
    "properties": {},
    "keywords": ["Bergen", "cat", "Pixel"],
    "importance": 0.6,
    "event_time": _TIME,
    "date": "2026-11-16/2026-11-22",
    "said_at": "2026-11-23T18:00:00Z",
    "session": "s1",
    "generation": "",
    "version": 0,
    "evidence": ["m1"],
}
_PROFILE: Final = {
    "id": "5b1c9a55-0a3e-5d52-8a3b-0b7f5d3f9c10",
    "user": "ann",
    "kind": "entity",
    "type": "user_profile",
    "content": "home: Bergen",
    "properties": {"user": "ann", "home": "Bergen"},
    "keywords": [],
    "importance": 0.5,
    "event_time": _TIME,
    "entity_key": "ann",
    "generation": "",
    "version": 3,
    "evidence": ["m1"],
}
_BASIS: Final[dict[str, Any]] = {
    "after": None,
    "at": None,
    "degraded": [],
    "positions": {"memories": [{"topic": "memories", "partition": 0, "offset": 88}], "session": None},
    "ms": 14.2,
}
_RECALL_ID: Final = "b7a5c1c2-53c9-4f3f-9f43-7d1f9b0f3d7e"
_CORRECTED: Final = {
    "id": "c0ffee00-0000-5000-8000-000000000001",
    "memory_id": _EVENT["id"],
    "position": {**_POSITION, "topic": "extractions"},
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
    "edits": [{"id": _EDIT_ID, "tool": "replace", "by": "planner (k3)", "time": _TIME, "status": "applied", "undoable": True}],
}
_LETTER: Final = {
    "place": "0/17",
    "state": "open",
    "topic": "windows",
    "partition": 3,
    "offset": 214,
    "stage": "extraction",
    "reason": "answer_unusable",
    "detail": "the answer is not JSON",
    "tries": 5,
    "tenant": "acme",
    "first_time": _TIME,
    "last_time": _TIME,
    "key": "acme/ann#6b1f",
    "size": 5120,
    "parts": 1,
    "settled_at": None,
}
_LETTERS: Final = Example({"letters": [_LETTER], "total": 1})
_LETTER_CONTENT: Final = Example(
    {**_LETTER, "value": '{"schema_version":"1.0"}', "headers": [["varve-dlq-stage", "extraction"]], "answer": None}
)
_REDRIVE: Final = Example({"redriven": 1, "superseded": 0, "refused": []}, {"stage": "extraction"})
_PURGE: Final = Example({"purged": 1}, {"at": ["0/17"]})
_KEY: Final = {
    "id": "k1",
    "label": "backend",
    "created": _TIME,
    "expires": None,
    "last_used": _TIME,
}
_NEW_KEY: Final = {**_CHANGED, "id": "k2", "key": "vk_example"}
_NEW_WEBHOOK: Final = {**_CHANGED, "id": "wh_5f2c9a01b7e4d836", "secret": "whsec_example"}
_SCHEMA: Final = {"schema": "notes@2", "content": {"Name": "notes", "EventTypes": [], "EntityTypes": []}}
_TENANT: Final = {
    "method": "vikingmem",
    "id": "acme",
    "schema": "companion@1",
    "state": "active",
    "weight": 1.0,
    "budget": {},
    "quota": {},
    "signing": {},
    "messages": {"time_zone": "Europe/Oslo"},
    "retention": {"messages": "1y"},
    "redaction": {"kinds": ["email", "phone"]},
    "trust": {"sources": {"tool:browser": "untrusted"}},
    "keys": 1,
    "generation": "",
    "generations": [],
}
_TRUST: Final = {
    "tenant": "acme",
    "sources": {"app:crm": "trusted", "tool:*": "untrusted"},
    "entities_from": "normal",
    "version": 1764234000000,
    "changed_at": _TIME,
    "is_applied": True,
}
_SUBJECT: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

_RECEIPT: Final = {
    "tenant": "acme",
    "subject": _SUBJECT,
    "reason": "request 4711",
    "requested_at": _TIME,
    "finished_at": "2026-11-26T09:31:40Z",
    "gone_by": "2026-12-03T09:31:40Z",
    "found": {"memories": 28},
    "remains": [],
    "running": False,
    "problem": None,
}
_HOLD: Final = {
    "tenant": "acme",
    "subject": _SUBJECT,
    "reason": "case 2026-17",
    "placed_at": _TIME,
    "placed_by": "operator 3f2a9c01b7e4 counsel",
    "released_at": None,
    "released_by": None,
    "release_reason": "",
}

_SIZE: Final = {
    "windows": 4120,
    "messages": 30215,
    "calls": 4205,
    "prompt_tokens": 8650300,
    "cached_tokens": 5190000,
    "completion_tokens": 1240100,
    "cost": 2.31,
    "duration_s": 4205.0,
}
_REEXTRACTION: Final = {
    "generation": "v2",
    "tenants": ["acme"],
    "state": "running",
    "reason": "",
    "started_at": _TIME,
    "started_by": "operator 3f2a9c01b7e4 on-call",
    "since": None,
    "budget": {"tokens": 12000000, "cost": None, "calls_per_minute": 60},
    "estimate": _SIZE,
}

_CHECKED: Final = Example(
    {
        "valid": False,
        "problems": [{"path": "EventTypes[0].Properties[2]", "message": "ValueType must be string, int64 or float32"}],
        "name": None,
        "event_types": [],
        "entity_types": [],
        "prompt_tokens": None,
    },
    {"content": {"Name": "notes", "EventTypes": [], "EntityTypes": []}, "method": None},
)
_METHODS: Final = Example(
    {
        "methods": [
            {
                "method": "memgpt",
                "version": "1",
                "description": "Archives each message.",
                "source": "MemGPT, section 2.1",
                "event_types": ["turn"],
                "entity_types": [],
                "retrievers": ["keywords"],
            }
        ]
    }
)
_METHOD: Final = Example({"method": "memgpt", "content": {"Method": "memgpt", "Archive": {"Turns": True}}})
_MESSAGE: Final = {
    "id": "m1",
    "session": "s1",
    "user": "ann",
    "role": "user",
    "speaker": "Ann",
    "text": "I moved to Bergen last week, and my cat is called Pixel.",
    "event_time": _TIME,
}
_USAGE: Final = {
    "since": "2026-11-19T09:30:00Z",
    "rows": [
        {
            "day": "2026-11-26",
            "tenant": "acme",
            "stage": "extraction",
            "purpose": "extraction",
            "model": "gpt-small",
            "calls": 41,
            "estimated_calls": 0,
            "prompt_tokens": 81_200,
            "cached_tokens": 52_000,
            "completion_tokens": 9_400,
            "cost": 0.031,
            "latency_ms": 48_300.0,
        }
    ],
    "truncated": False,
    "priced": True,
    "budgets": [
        {
            "tenant": "acme",
            "soft_tokens": None,
            "hard_tokens": 1_000_000,
            "soft_cost": None,
            "hard_cost": None,
            "policy": "wait",
            "used_tokens": 90_600.0,
            "used_cost": 0.031,
        }
    ],
}
_STAGE: Final = {
    "name": "extraction",
    "lag": 3,
    "parked": 2,
    "parked_by_tenant": {"acme": 2},
    "rate": 1.5,
    "oldest_s": 0.8,
    "retention_left_s": None,
    "unfinished": None,
}

EXAMPLES: Final[dict[str, Example]] = {
    "send_messages": Example(
        {"id": "m1", "position": _POSITION},
        {
            "user": "ann",
            "session": "s1",
            "id": "m1",
            "role": "user",
            "speaker": "Ann",
            "text": "I moved to Bergen last week, and my cat is called Pixel.",
            "event_time": _TIME,
        },
    ),
    "edit_message": Example(
        {"id": "m1", "position": _POSITION, "outcome": "edited"}, {"user": "ann", "text": "The dinner is at 8 pm at Mario's."}
    ),
    "delete_message": Example({"id": "m1", "position": _POSITION, "outcome": "deleted"}),
    "flush_windows": Example({"positions": [_POSITION]}, {"session": "s1"}),
    "recall_memories": Example(
        {
            "recall_id": _RECALL_ID,
            "results": [{**_EVENT, "score": 0.91, "evidence_scores": [0.91], "superseded_by": None, "keyword": None}],
            "confidence": 0.86,
            "entities": [_PROFILE],
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
            "citations": [{"mark": "1", "id": _PROFILE["id"], "kind": "entity", "evidence": ["m1"]}],
            "left_out": 0,
            **_BASIS,
        },
        {"query": "Where does Ann live?", "user": "ann", "session": "s1", "tokens": 800},
    ),
    "send_feedback": Example(
        {"position": {**_POSITION, "topic": "recalls"}}, {"recall_id": _RECALL_ID, "user": "ann", "useful": [_EVENT["id"]]}
    ),
    "get_memory": Example(_EVENT),
    "list_memories": Example({"memories": [_EVENT, _PROFILE], "next": None}),
    "delete_memory": Example({**_CORRECTED, "remaining": []}),
    "erase_user": Example({"subject": _SUBJECT, "location": f"/v1/erasures/{_SUBJECT}", "resumable": True}),
    "get_erasure": Example(_RECEIPT),
    "get_status": Example({"tenant": "acme", "user": None, "scopes": ["ingest", "recall"], "schema": "companion@1", "generation": ""}),
    "get_overview": Example(
        {
            "read_at": _TIME,
            "over_s": None,
            "stages": [{**_STAGE, "lag": None, "rate": None}],
            "rates": [],
            "memories": 28,
        }
    ),
    "get_operators_overview": Example(
        {
            "read_at": _TIME,
            "over_s": 5.0,
            "stages": [_STAGE],
            "rates": [{"at": _TIME, "stages": {"extraction": 1.5}}],
            "memories": None,
        }
    ),
    "list_sessions": Example(
        {
            "sessions": [
                {
                    "session": "s1",
                    "users": ["ann"],
                    "messages": 21,
                    "last_message_at": _TIME,
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
                    "events": [{"type": "fact", "content": _EVENT["content"], "message_ids": ["m1"]}],
                    "patches": [],
                    "dropped": [{"what": "event", "reason": "equal to an earlier one", "count": 1}],
                    "usage": [],
                }
            ],
        },
        {"content": None, "limit": 1},
    ),
    "get_evidence": Example({"messages": [_MESSAGE], "missing": []}),
    "list_links": Example(
        {
            "available": True,
            "nodes": [
                {"id": each["id"], "kind": each["kind"], "type": each["type"], "user": "ann", "content": each["content"], "depth": None}
                for each in (_EVENT, _PROFILE)
            ],
            "edges": [{"source": _EVENT["id"], "target": _PROFILE["id"], "relation": "her new home", "score": 0.8}],
            "truncated": False,
        }
    ),
    "list_own_keys": Example(
        {
            "keys": [{**_KEY, "scopes": ["ingest", "recall"], "user": None}],
            "uses_known": True,
            "quota": {"messages_per_second": 50.0, "recalls_per_second": None},
        }
    ),
    "get_usage": Example(_USAGE),
    "get_operators_usage": Example(_USAGE),
    "list_own_erasures": Example({"erasures": [_RECEIPT]}),
    "get_entity": Example({**_PROFILE, "degraded": []}),
    "get_entity_history": Example(
        {
            "type": "user_profile",
            "key": "ann",
            "steps": [
                {
                    "id": "extractions/0@41",
                    "kind": "extraction",
                    "recorded_at": _TIME,
                    "time": _TIME,
                    "user": "ann",
                    "changes": [
                        {
                            "property": "home",
                            "op": "apply",
                            "value": {"search": "", "replace": "Bergen"},
                            "event_time": _TIME,
                            "source_id": _EVENT["id"],
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
        {"id": _EDIT_ID, "status": "applied", "position": {**_POSITION, "topic": "extractions"}, "block": _BLOCK},
        {"user": "ann", "tool": "replace", "old": "Lives in Oslo.", "text": "Lives in Bergen.", "reason": "Ann said so"},
    ),
    "undo_block_edit": Example(
        {
            "id": "c0ffee00-0000-5000-8000-000000000003",
            "status": "undone",
            "position": {**_POSITION, "topic": "extractions", "offset": 1208},
            "block": {
                **_BLOCK,
                "text": "Lives in Oslo.\nHas a cat, Pixel.",
                "characters": 33,
                "version": 5,
                "edits": [{"id": _EDIT_ID, "tool": "replace", "by": "planner (k3)", "time": _TIME, "status": "undone"}],
            },
        },
        {"user": "ann"},
    ),
    "search_memories": Example(
        {
            "page": 0,
            "results": [{"id": _EVENT["id"], "day": "2026-11-16", "says": _EVENT["content"], "score": 0.71, "evidence": ["m1"]}],
            "more": False,
        },
        {"user": "ann", "query": "where Ann lives"},
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
    "get_session": Example(
        {
            "session": "s1",
            "messages": [{"window_sequence": 0, "message": {"id": "m1", "role": "user", "text": "My cat is called Pixel."}}],
            "open_window": {"sequence": 0, "message_count": 1},
        }
    ),
    "list_own_schemas": Example({"schemas": [{"schema": "notes@2", "own": True, "in_force": True}], "next": None}),
    "get_own_schema": Example(_SCHEMA),
    "list_own_dead_letters": _LETTERS,
    "get_own_dead_letter": _LETTER_CONTENT,
    "redrive_own_dead_letters": _REDRIVE,
    "purge_own_dead_letters": _PURGE,
    "list_dead_letters": _LETTERS,
    "get_dead_letter": _LETTER_CONTENT,
    "redrive_dead_letters": _REDRIVE,
    "purge_dead_letters": _PURGE,
    "list_tenants": Example({"tenants": [_TENANT], "next": None}),
    "get_tenant": Example(_TENANT),
    "create_tenant": Example(_NEW_KEY, {"id": "acme", "schema": "companion", "label": "backend"}),
    "update_tenant": Example(_CHANGED, {"weight": 2.0, "quota": {"messages_per_second": 50}}),
    "delete_tenant": Example({**_CHANGED, "settled": True}),
    "update_signing": Example({**_CHANGED, "required_since": _TIME, "keys": [], "key": None}, {"tenant": "acme", "required": True}),
    "list_api_keys": Example({"keys": [{**_KEY, "scopes": ["ingest", "recall"], "user": None}], "uses_known": True}),
    "create_api_key": Example(_NEW_KEY, {"tenant": "acme", "label": "backend", "scopes": ["recall"], "user": "ann"}),
    "rotate_api_key": Example(_NEW_KEY, {"tenant": "acme", "overlap_s": 3600}),
    "revoke_api_key": Example({**_CHANGED, "settled": True}),
    "list_webhooks": Example(
        {
            "webhooks": [
                {
                    "id": "wh_5f2c9a01b7e4d836",
                    "url": "https://hooks.example.com/varve",
                    "label": "crm",
                    "kinds": ["event"],
                    "content": True,
                    "created": _TIME,
                    "secrets": [{"id": "9c1e0f7a44d2b6e8", "until": None}],
                }
            ]
        }
    ),
    "create_webhook": Example(_NEW_WEBHOOK, {"tenant": "acme", "url": "https://hooks.example.com/varve", "kinds": ["event"]}),
    "rotate_webhook": Example(_NEW_WEBHOOK, {"tenant": "acme", "overlap_s": 3600}),
    "delete_webhook": Example({**_CHANGED, "settled": True}),
    "list_webhook_dead_letters": Example(
        {
            "letters": [
                {
                    "id": "msg_0f6a5d2c9b7e41388d0c5a6b1e2f3a4d",
                    "event": "memory.upserted",
                    "memory_id": "0d0b9f3e-8f51-5f0a-9f0e-6f5a0f6f2a11",
                    "changed_at": _TIME,
                    "attempts": 12,
                    "problem": "status 500",
                    "dead_at": _TIME,
                    "redriven": 0,
                }
            ],
            "dead": 1,
            "pending": 0,
        }
    ),
    "redrive_webhook": Example({"redriven": 1}, {"tenant": "acme"}),
    "try_webhook": Example({"id": "msg_0f6a5d2c9b7e41388d0c5a6b1e2f3a4d", "delivered": False, "problem": "status 404"}, {"tenant": "acme"}),
    "list_operator_keys": Example({"keys": [{**_KEY, "role": "admin"}], "uses_known": True}),
    "create_operator_key": Example(_NEW_KEY, {"label": "on-call", "role": "operator"}),
    "delete_operator_key": Example({**_CHANGED, "settled": True}),
    "list_schemas": Example({"schemas": [{"schema": "notes@2", "tenants": 1, "owner": None}], "next": None}),
    "get_schema": Example({**_SCHEMA, "owner": None}),
    "create_schema": Example({**_CHANGED, "schema": "notes@3"}, {"content": _SCHEMA["content"], "tenant": None}),
    "list_methods": _METHODS,
    "get_method": _METHOD,
    "list_shipped_methods": _METHODS,
    "get_shipped_method": _METHOD,
    "validate_schema": _CHECKED,
    "validate_own_schema": _CHECKED,
    "list_generations": Example({"generations": [{"name": "", "schema": "companion@1", "method": "vikingmem", "live": True}]}),
    "create_generation": Example(_CHANGED, {"tenant": "acme", "name": "v2", "schema": "companion@2"}),
    "switch_generation": Example({**_CHANGED, "windows_left": 0}, {"tenant": "acme", "name": "v2"}),
    "drop_generation": Example({**_CHANGED, "drops": 1, "retracted": 214}, {"tenant": "acme", "name": "v1"}),
    "list_erasures": Example({"erasures": [_RECEIPT]}),
    "start_erasure": Example(
        {**_CHANGED, "subject": _SUBJECT, "resumable": True}, {"tenant": "acme", "user": "ann", "reason": "request 4711"}
    ),
    "get_trust": Example(_TRUST),
    "update_trust": Example(
        {**_CHANGED, **_TRUST, "is_applied": False}, {"tenant": "acme", "sources": {"app:crm": "trusted", "tool:*": "untrusted"}}
    ),
    "list_holds": Example({"holds": [_HOLD]}),
    "create_hold": Example({**_CHANGED, "settled": True, "subject": _SUBJECT}, {"tenant": "acme", "user": "ann", "reason": "case 2026-17"}),
    "delete_hold": Example({**_CHANGED, "subject": _SUBJECT}),
    "estimate_reextraction": Example(
        {**_SIZE, "model": "small-model", "basis": "the averages of 2,140 earlier calls", "tenants": {"acme": _SIZE}},
        {"tenants": ["acme"], "calls_per_minute": 60},
    ),
    "list_reextractions": Example({"reextractions": [_REEXTRACTION]}),
    "get_reextraction": Example(
        {
            **_REEXTRACTION,
            "workers": 1,
            "waits_for_erasure": False,
            "waits_for_budget": [
                {
                    "tenant": "acme",
                    "until": "2026-11-02T00:00:00+00:00",
                    "reason": "tenant 'acme' has used 2,480,200 of the 2,500,000 tokens that re-extractions may use today "
                    "(VARVE_BUDGET__REEXTRACTION_SHARE of its daily budget), and the next call may use 21,000",
                }
            ],
            "caught_up": False,
            "share": 0.25,
            "windows": 4120,
            "windows_left": 3090,
            "parked": 0,
            "left_s": 3150.0,
            "calls": 1055,
            "tokens": 2480200,
            "cost": 0.58,
            "tokens_left": 9519800,
            "cost_left": None,
            "advice": "",
        }
    ),
    "create_reextraction": Example(
        {**_CHANGED, "state": "running", "reason": ""},
        {"generation": "v2", "tenants": ["acme"], "budget_tokens": 12000000, "calls_per_minute": 60, "confirmed": True},
    ),
    "pause_running_reextraction": Example({**_CHANGED, "state": "paused", "reason": "paused by operator 3f2a9c01b7e4 on-call"}),
    "resume_paused_reextraction": Example({**_CHANGED, "state": "running", "reason": ""}, {"budget_tokens": 20000000}),
    "cancel_unfinished_reextraction": Example({**_CHANGED, "state": "cancelling", "reason": ""}),
    "get_control_position": Example({"position": 412, "reached": True, "age_s": 0.4, "lease_s": 30.0}),
    "apply_tenants_file": Example(
        {**_CHANGED, "settled": True, "documents": 1, "differences": ["tenant/acme: weight 1.0 -> 2.0"]},
        {"tenants": [{"id": "acme", "schema": "companion", "weight": 2.0}]},
    ),
    "export_tenants_file": Example({"tenants": [{"id": "acme", "schema": "companion@1", "keys": []}], "operators": []}),
    "list_audit_records": Example(
        {
            "records": [
                {
                    "action": "tenant add",
                    "by": "operator k1 on-call",
                    "at": _TIME,
                    "subject": "tenant/acme",
                    "before": None,
                    "after": {"id": "acme"},
                }
            ],
            "total": 1,
        }
    ),
    "list_reads": Example({"reads": [{"time": _TIME, "key_id": "k1", "what": "recall", "memory_ids": [_EVENT["id"]], "left_out": 0}]}),
    "verify_audit": Example({"changes": 12, "records": 19, "digest": _SUBJECT, "problems": []}),
    "get_health": Example({"status": "ok"}),
}
