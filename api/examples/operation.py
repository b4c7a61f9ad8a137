"""Examples of the operation of a stream: keys, usage, schemas, dead letters and erasures, by tenants and by operators."""

from typing import Final

from api.examples.values import CHANGED, EVENT, KEY, SUBJECT, TIME, Example

_DEAD_LETTER: Final = {
    "place": "0/17",
    "state": "open",
    "topic": "windows",
    "partition": 3,
    "offset": 214,
    "stage": "extraction",
    "reason": "bad_answer",
    "detail": "the answer is not JSON",
    "tries": 5,
    "tenant": "acme",
    "first_time": TIME,
    "last_time": TIME,
    "key": "acme/ann#6b1f",
    "size": 5120,
    "parts": 1,
    "settled_at": None,
}
_DEAD_LETTERS: Final = Example({"dead_letters": [_DEAD_LETTER], "total": 1})
_DEAD_LETTER_CONTENT: Final = Example(
    {**_DEAD_LETTER, "value": '{"schema_version":"1.0"}', "headers": [["varve-dlq-stage", "extraction"]], "answer": None}
)
_REDRIVE: Final = Example({"redriven": 1, "superseded": 0, "refused": []}, {"stage": "extraction"})
_PURGE: Final = Example({"purged": 1}, {"at": ["0/17"]})
_SCHEMA: Final = {"schema": "notes@2", "content": {"Name": "notes", "EventTypes": [], "EntityTypes": []}}
_RECEIPT: Final = {
    "tenant": "acme",
    "subject": SUBJECT,
    "reason": "request 4711",
    "requested_at": TIME,
    "finished_at": "2026-11-26T09:31:40Z",
    "gone_by": "2026-12-03T09:31:40Z",
    "found": {"memories": 28},
    "remains": [],
    "running": False,
    "problem": None,
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
            "reextraction_share": 0.5,
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

OPERATION: Final[dict[str, Example]] = {
    "erase_user": Example({"subject": SUBJECT, "location": f"/v1/erasures/{SUBJECT}", "resumable": True}),
    "get_erasure": Example(_RECEIPT),
    "get_status": Example({"tenant": "acme", "user": None, "scopes": ["ingest", "recall"], "schema": "companion@1", "generation": ""}),
    "get_overview": Example(
        {
            "read_at": TIME,
            "over_s": None,
            "stages": [{**_STAGE, "lag": None, "rate": None}],
            "rates": [],
            "memories": 28,
        }
    ),
    "get_operators_overview": Example(
        {
            "read_at": TIME,
            "over_s": 5.0,
            "stages": [_STAGE],
            "rates": [{"at": TIME, "stages": {"extraction": 1.5}}],
            "memories": None,
        }
    ),
    "list_own_keys": Example(
        {
            "keys": [{**KEY, "scopes": ["ingest", "recall"], "user": None}],
            "uses_known": True,
            "quota": {"messages_per_second": 50.0, "recalls_per_second": None},
        }
    ),
    "get_usage": Example(_USAGE),
    "get_operators_usage": Example(_USAGE),
    "list_own_erasures": Example({"erasures": [_RECEIPT]}),
    "list_own_schemas": Example({"schemas": [{"schema": "notes@2", "own": True, "in_force": True}], "next": None}),
    "get_own_schema": Example(_SCHEMA),
    "list_own_dead_letters": _DEAD_LETTERS,
    "get_own_dead_letter": _DEAD_LETTER_CONTENT,
    "redrive_own_dead_letters": _REDRIVE,
    "purge_own_dead_letters": _PURGE,
    "list_dead_letters": _DEAD_LETTERS,
    "get_dead_letter": _DEAD_LETTER_CONTENT,
    "redrive_dead_letters": _REDRIVE,
    "purge_dead_letters": _PURGE,
    "list_schemas": Example({"schemas": [{"schema": "notes@2", "tenants": 1, "owner": None}], "next": None}),
    "get_schema": Example({**_SCHEMA, "owner": None}),
    "create_schema": Example({**CHANGED, "schema": "notes@3"}, {"content": _SCHEMA["content"], "tenant": None}),
    "list_methods": _METHODS,
    "get_method": _METHOD,
    "list_shipped_methods": _METHODS,
    "get_shipped_method": _METHOD,
    "validate_schema": _CHECKED,
    "validate_own_schema": _CHECKED,
    "list_erasures": Example({"erasures": [_RECEIPT]}),
    "start_erasure": Example(
        {**CHANGED, "subject": SUBJECT, "resumable": True}, {"tenant": "acme", "user": "ann", "reason": "request 4711"}
    ),
    "list_reads": Example({"reads": [{"time": TIME, "key_id": "k1", "what": "recall", "memory_ids": [EVENT["id"]], "left_out": 0}]}),
    "get_health": Example({"status": "ok"}),
}
